"""Who calls, about which session, and what every change carries and gives."""

from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum, StrEnum
from typing import NewType
from uuid import UUID

SessionKey = NewType("SessionKey", UUID)
"""The 16 bytes that key a session's rows: a hash of tenant and session id."""


class CallerRole(StrEnum):
    """What a caller may be, from its token."""

    USER = "user"
    ENGINE = "engine"
    ADMIN = "admin"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class Principal:
    """A verified caller."""

    tenant_id: str
    subject: str
    role: CallerRole
    agents: frozenset[str] | None = None
    """The agents whose sessions alone an engine may reach; None for all."""
    acts_for: str | None = None
    """The user whose sessions alone an engine may reach; None for all."""


class Method(IntEnum):
    """Which call made a commit; a request_id belongs to one."""

    CREATE_SESSION = 1
    APPEND = 2
    UPDATE_MEMORY = 3
    UPDATE_TOOL_CALL = 4
    COMPLETE_TOOL_CALL = 5
    CLOSE_SESSION = 6
    RESTORE_SESSION = 7
    UPDATE_SESSION = 8
    REMOVE_MESSAGES = 9
    UPDATE_MESSAGE = 10
    DELETE_SESSION = 11
    UNDELETE_SESSION = 12
    START_RUN = 13
    CANCEL_RUN = 14
    FINISH_RUN = 15
    STREAM_DRAFT = 16
    FORK_SESSION = 20
    PUT_CHECKPOINT = 21
    COPY_CHECKPOINTS = 22
    DELETE_CHECKPOINTS = 23
    EXPIRE_SESSION = 17
    """The server's own, as the two that follow."""
    EXPIRE_RUN = 18
    LOSE_DRAFT = 19


@dataclass(frozen=True, slots=True)
class SessionRef:
    """Which session a call is about, and whose it must be."""

    tenant_id: str
    session_id: str
    key: SessionKey
    owner: str | None
    """What the caller is narrowed to, such as the user that must own it; None where it may reach its whole tenant."""


@dataclass(frozen=True, slots=True)
class Fence:
    """The run that a change is made under, and the token that it was granted."""

    run_id: str
    fencing_token: int


@dataclass(frozen=True, slots=True)
class Change:
    """What every change carries beside its content."""

    session: SessionRef
    principal: Principal
    method: Method
    request_id_hash: UUID
    digest: bytes
    """Of the request in canonical form; the first byte names the algorithm."""
    traceparent: str | None
    expected_version: int | None = None
    expected_memory_version: int | None = None
    fence: Fence | None = None
    force: bool = False


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a change made."""

    session: SessionRef
    version: int
    first_seq: int
    last_seq: int
    message_ids: tuple[str, ...]
    tool_call_ids: tuple[str, ...]
    memory_version: int
    commit_time: datetime
    replayed: bool


@dataclass(frozen=True, slots=True)
class StoreIdentity:
    """What makes this store this store."""

    store_epoch: str
    page_token_secret: bytes
    schema: str
    postgres_version: str


@dataclass(frozen=True, slots=True)
class Durability:
    """The database settings that an acknowledged commit stands on."""

    synchronous_commit: bool
    fsync: bool
    full_page_writes: bool
