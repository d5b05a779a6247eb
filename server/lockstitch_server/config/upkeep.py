"""What time alone changes."""

from datetime import timedelta
from typing import Annotated

from pydantic import BaseModel, Field

from lockstitch_server.config.units import Duration, LongDuration


class UpkeepSettings(BaseModel):
    """What time alone changes."""

    sweep_interval: Annotated[Duration, Field(ge=timedelta(milliseconds=100))] = timedelta(seconds=2)
    """How often this process looks for sessions that are due: to expire, to be purged, to end a lost run or draft.

    Status and refusals never wait for it: it makes the commit, and frees the space. Looking costs one indexed query.
    Defaults to 2 s.
    """

    sweep_share: Annotated[float, Field(gt=0, le=1)] = 0.25
    """The share of its time that sweeping may take of its one connection; after work it rests for the rest.

    More sweeps a backlog sooner, and slows writers on a busy database. Defaults to 0.25.
    """

    run_grace: Duration = timedelta(minutes=10)
    """How long after its lease ran out a run is ended by the server, if nobody took over and nobody renewed.

    Longer gives a holder that was cut off more time to come back. Defaults to 10 minutes.
    """

    draft_idle: Annotated[Duration, Field(ge=timedelta(seconds=1))] = timedelta(seconds=25)
    """How long a draft may get no step before it is stored as it is, `incomplete`.

    An empty step keeps it open. With `sweep_interval` it stays below 30 s. Defaults to 25 s.
    """

    purge_after: LongDuration = timedelta(days=30)
    """How long a deleted session can be undeleted, and keeps its space. Defaults to 30 days."""
