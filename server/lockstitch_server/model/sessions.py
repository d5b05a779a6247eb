"""Sessions: new, changed, stored."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import IntEnum

from lockstitch_server.model.identity import SessionRef


class SessionStatus(IntEnum):
    """Where a session stands; EXPIRED is computed, and stored when the sweeper comes by."""

    ACTIVE = 1
    CLOSED = 2
    EXPIRED = 3
    DELETED = 4


class SessionAction(IntEnum):
    """What changes where a session stands."""

    RESTORE = 1
    CLOSE = 2
    DELETE = 4
    UNDELETE = 5


@dataclass(frozen=True, slots=True)
class Expiration:
    """How long a session lives: an instant or a time from now, and a time unused."""

    expire_time: datetime | None = None
    ttl: timedelta | None = None
    idle_ttl: timedelta | None = None


@dataclass(frozen=True, slots=True)
class NewSession:
    """What a session is created with, beside its first content."""

    user_id: str
    agent: str
    title: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    metadata: bytes = b""
    expiration: Expiration = field(default_factory=Expiration)
    is_over_quota: bool = False
    """Whether there may be no session more: it is then refused where it is not there yet."""


@dataclass(frozen=True, slots=True)
class SessionUpdate:
    """What a session's fields become; a field that is not in `fields` stays."""

    fields: frozenset[str]
    title: str
    labels: dict[str, str]
    metadata: bytes
    expire_time: datetime | None
    idle_ttl: timedelta | None
    erase: bool


@dataclass(frozen=True, slots=True)
class ForkedFrom:
    """The session and version that a fork is a copy of."""

    session_id: str
    version: int


@dataclass(frozen=True, slots=True)
class Session:
    """A session at one version."""

    session_id: str
    tenant_id: str
    user_id: str
    agent: str
    title: str
    status: SessionStatus
    version: int
    last_seq: int
    memory_version: int
    message_count: int
    labels: dict[str, str]
    metadata: bytes
    create_time: datetime
    update_time: datetime
    last_activity_time: datetime
    close_time: datetime | None
    close_reason: str
    expire_time: datetime | None
    idle_ttl: timedelta | None
    delete_time: datetime | None
    purge_time: datetime | None
    active_run_id: str
    forked_from: ForkedFrom | None


@dataclass(frozen=True, slots=True)
class NewFork:
    """What a fork is made of, and what it is given."""

    source: SessionRef
    at_version: int | None
    title: str
    labels: dict[str, str]
    is_over_quota: bool = False
    """Whether there may be no session more: it is then refused where it is not there yet."""
