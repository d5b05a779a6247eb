"""The life of a call and of the server."""

from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from lockstitch_server.config.units import MIB, Duration


class CallSettings(BaseModel):
    """The life of a call and of the server."""

    workers: Annotated[int, Field(ge=1, le=256)] = 1
    """How many processes share the port.

    One process uses one core. Give it as many as there are cores to spare: each has a connection pool of its own, so
    the database sees `workers` times `pool_connections_max` connections. Defaults to 1, in the parent itself.
    """

    unary_deadline: Duration = timedelta(seconds=10)
    """The deadline of a call that came without one; a caller's own always wins. Defaults to 10 s."""

    shutdown_grace: Duration = timedelta(seconds=10)
    """How long a stopping server lets calls finish before it cuts them off.

    Have the orchestrator wait longer than this before it kills. Defaults to 10 s.
    """

    tenant_calls_a_second: Annotated[float | None, Field(gt=0)] = None
    """How many calls a second one tenant may make of this process, on average; more are RATE_LIMITED.

    Every process counts for itself: behind a balancer a tenant gets as many times this. Defaults to none: no bound.
    """

    subject_calls_a_second: Annotated[float | None, Field(gt=0)] = None
    """How many calls a second one subject of a tenant may make of this process; an engine is one subject.

    Defaults to none: no bound.
    """

    rate_burst: Duration = timedelta(seconds=2)
    """How much of a rate may be used at once by who was quiet before.

    Longer forgives bursts, shorter keeps callers even. Defaults to 2 s.
    """

    calls_in_flight_max: Annotated[int, Field(ge=1)] = 1000
    """How many unary calls this process answers at a time at most, in a burst; those beyond are OVERLOADED at once.

    Higher takes longer bursts, at the cost of memory and of how long their last call waits. Defaults to 1,000.
    """

    calls_under_load: Annotated[int, Field(ge=1)] = 48
    """How many unary calls this process holds at a time, waiting ones included, when more come than it can answer.

    From when half as many again have been here for `overload_after`, those beyond it are OVERLOADED before any work is
    done for them and told when to come again, so that those let in take no longer than usual. It should be what keeps
    the process busy: lower wastes the machine, higher lets calls wait. Where the database is far away, so that calls
    mostly wait for it, raise it with `pool_connections_max`. Defaults to 48, enough for one process on two cores.
    """

    overload_after: Duration = timedelta(seconds=1)
    """How long a queue may stand, without becoming shorter, before this process turns calls away.

    Until then bursts are let in. Turning away goes on until those who are here and those who were told to come again
    would be no queue. Longer forgives longer bursts, shorter keeps waits shorter. Defaults to 1 s.
    """

    in_flight_bytes_max: Annotated[int, Field(ge=8 * MIB)] = 256 * MIB
    """How many bytes of requests the unary calls that are being answered may hold together; others are OVERLOADED.

    It bounds the memory that a burst of large requests takes, about twice this. Defaults to 256 MiB.
    """

    log_format: Literal["auto", "json", "console"] = "auto"
    """`json` is a line an event, `console` is for people, `auto` is console on a terminal and else json.

    Defaults to auto.
    """

    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """The least severe event that is logged.

    `debug` writes a line a call, which costs about a tenth of the throughput. No level logs tokens, content or SQL.
    Defaults to info.
    """

    failpoints: Path | None = None
    """A folder whose files make this server fail on purpose, to see what callers make of that. For tests alone.

    A file is named after where: `before_commit`, `after_commit`, `before_wake_up`, `between_pages`, `before_handover`
    or `during_drain`. In it stands `die`, `lose` (a connection) or `pause` (until the file is gone); after `die` and
    `lose` a share of times, as in `lose 0.5`, after `pause` seconds. Whoever may write there can end the server, so it
    is refused where callers need not be on this machine, and logged. Defaults to none.
    """
