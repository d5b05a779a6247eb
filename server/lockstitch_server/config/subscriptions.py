"""Subscriptions."""

from datetime import timedelta
from typing import Annotated

from pydantic import BaseModel, Field

from lockstitch_server.config.units import Duration


class SubscriptionSettings(BaseModel):
    """Subscriptions."""

    nats_url: Annotated[str | None, Field(repr=False)] = None
    """A NATS server that carries wake-ups between server processes, such as `nats://host:4222`.

    For clusters of databases and for connection poolers, where Postgres' own notifications do not reach every process.
    Wake-ups are hints: losing the bus delays streams by `subscription_poll_interval` at most. Needs the `nats` extra.
    Defaults to none: LISTEN and NOTIFY.
    """

    subscription_poll_interval: Annotated[Duration, Field(le=timedelta(seconds=2))] = timedelta(seconds=1)
    """How often all subscribed sessions are looked at, in one query, for commits whose wake-up was lost.

    It bounds the delay of a lost wake-up, at the cost of that query. Defaults to 1 s.
    """

    subscription_page_commits_max: Annotated[int, Field(ge=1, le=1000)] = 100
    """How many commits a stream that is behind reads at once; a page ends at 1 MiB, too.

    More catch up in fewer statements, and are held in memory while a slow reader takes them. Defaults to 100.
    """

    subscription_window_commits_max: Annotated[int, Field(ge=1)] = 256
    """How many commits wait for a reader that is slower than the writers; at most 1 MiB of them, too.

    When there are more, they are let go and read from the log again, which costs statements in place of memory.
    Defaults to 256.
    """

    connection_ping_interval: Annotated[Duration, Field(ge=timedelta(seconds=1))] = timedelta(seconds=20)
    """How long a quiet connection is trusted before its caller is asked for a sign of life, and how long that may take.

    Streams of callers that vanished without a goodbye end after twice this time. Shorter wakes idle callers more
    often. Defaults to 20 s.
    """

    stream_stall_max: Duration = timedelta(seconds=60)
    """How long a stream may take nothing before it is ended with SLOW_CONSUMER.

    It can resume where it was. Shorter frees sockets of dead readers sooner. Defaults to 60 s.
    """

    streams_max: Annotated[int, Field(ge=1)] = 10_000
    """The most streams of this process, each about 60 KiB of memory; one that is ended but whose caller has not taken
    note counts, too. Defaults to 10,000.
    """

    tenant_streams_max: Annotated[int, Field(ge=1)] = 2_000
    """The most streams of one tenant in this process. Defaults to 2,000."""

    user_streams_max: Annotated[int, Field(ge=1)] = 1_000
    """The most streams of one subject in this process; an engine counts as one. Defaults to 1,000."""
