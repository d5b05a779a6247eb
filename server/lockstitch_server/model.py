"""What the server talks about: frozen data, no I/O.

Numbers of enums are the proto's and the database's.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
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


class MessageRole(IntEnum):
    """Who a message speaks for."""

    USER = 1
    ASSISTANT = 2
    TOOL = 3
    SYSTEM = 4
    DEVELOPER = 5


class SessionStatus(IntEnum):
    """Where a session stands; EXPIRED is computed, never stored."""

    ACTIVE = 1
    CLOSED = 2
    EXPIRED = 3


class ToolCallStatus(IntEnum):
    """Where a tool call stands."""

    PENDING = 1
    RUNNING = 2
    AWAITING_APPROVAL = 3
    SUCCEEDED = 4
    FAILED = 5
    CANCELLED = 6
    INTERRUPTED = 7

    @property
    def is_open(self) -> bool:
        """Whether a call with this status has no outcome yet."""
        return self <= ToolCallStatus.AWAITING_APPROVAL


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


@dataclass(frozen=True, slots=True)
class SessionRef:
    """Which session a call is about, and whose it must be."""

    tenant_id: str
    session_id: str
    key: SessionKey
    owner: str | None
    """The user that must own it; None where the caller may reach its whole tenant."""


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
    force: bool = False


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A message to store: its content as the caller sent it, serialized, and what the store needs to see of it."""

    role: MessageRole
    body: bytes
    message_id: str | None = None
    call_id: str | None = None
    event_time: datetime | None = None


class LedgerOp(IntEnum):
    """What happens to a tool call in a commit."""

    RECORD = 1
    """A new call, made by a message or without one."""
    ANSWER = 2
    """A TOOL message of the caller ends the call."""
    UPDATE = 3
    """The status, approval or resources of an open call change."""
    COMPLETE = 4
    """The call ends; where a message made it, `message_index` is the TOOL message that is written for it."""


@dataclass(frozen=True, slots=True)
class LedgerChange:
    """One step of the ledger within a commit."""

    op: LedgerOp
    field: str
    """The request's field, for errors."""
    message_index: int | None = None
    part_index: int | None = None
    tool_call: tuple[int, int] | None = None
    """(requested_version, position), where the ledger's id was given."""
    call_id: str | None = None
    name: str | None = None
    arguments_digest: bytes | None = None
    status: ToolCallStatus | None = None
    outcome_digest: bytes | None = None
    granted: bool | None = None
    detail: bytes | None = None
    """Approval, resources and error, as a serialized ToolCall; appended to what was there, which merges them."""
    arguments: bytes | None = None
    """Of a new call that no message makes."""
    result: bytes | None = None
    """Of a call whose result no message holds."""


class MemoryScope(IntEnum):
    """Which keys a memory change deletes unless it sets them."""

    NAMED = 0
    ALL = 1
    EXTRA = 2


@dataclass(frozen=True, slots=True)
class MemoryWrite:
    """A change of working memory, as keys."""

    path: str
    """The request's field, for errors."""
    values: dict[bytes, bytes | None]
    """JSON text a key; None deletes."""
    scope: MemoryScope = MemoryScope.NAMED
    needs_guard: bool = False
    expected_key_versions: dict[bytes, int] = field(default_factory=dict)
    """For keys that were read and merged: the version they were read at, 0 for absent."""
    requested: bytes = b""
    """The MemoryChange that was asked for, serialized, for the commit."""


@dataclass(frozen=True, slots=True)
class MemoryPatch:
    """A JSON merge patch of working memory, before it met what it changes."""

    patch: bytes
    path: str
    """The request's field, for errors."""
    requested: bytes


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


@dataclass(frozen=True, slots=True)
class Removal:
    """Which messages are taken back: the newest so many, or all from a seq on."""

    last: int | None
    from_seq: int | None
    erase: bool


@dataclass(frozen=True, slots=True)
class MessageUpdate:
    """What a message becomes. It is named by its seq, where the id is a server's, or by its caller's id."""

    seq: int | None
    message_id: str | None
    message: NewMessage
    tool_calls: tuple[LedgerChange, ...]
    """The calls that it makes, or the one that it answers."""
    erase: bool


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
class Content:
    """The content of one commit."""

    messages: tuple[NewMessage, ...] = ()
    ledger: tuple[LedgerChange, ...] = ()
    memory: MemoryWrite | MemoryPatch | None = None
    allow_orphans: bool = False
    erase: bool = False
    """Whether every historic copy of what this replaces is deleted."""


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
class Message:
    """A stored message. `body` is None where it was too large for the answer; `body_bytes` is its size all the same."""

    seq: int
    version: int
    role: MessageRole
    message_id: str
    call_id: str
    create_time: datetime
    body: bytes | None
    body_bytes: int
    removed_version: int = 0
    erased: bool = False


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call in the ledger, with the bodies of the messages that hold its arguments and result."""

    tool_call_id: str
    requested_version: int
    position: int
    version: int
    call_id: str
    name: str
    status: ToolCallStatus
    arguments_digest: bytes
    message_seq: int | None
    message_id: str
    part_index: int | None
    result_seq: int | None
    result_message_id: str
    ended_version: int
    create_time: datetime
    start_time: datetime | None
    end_time: datetime | None
    detail: bytes
    arguments: bytes | None
    """Of a call that no message made."""
    result: bytes | None
    message_bytes: int = 0
    """The size of the message that made it, whether its body is here or not."""
    result_bytes: int = 0
    message_body: bytes | None = None
    result_body: bytes | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """Working memory at one version: JSON text a top-level key."""

    values: dict[bytes, bytes]
    version: int
    erased: bool = False
    """Whether values that it held at that version were erased since."""


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit of the log, with what it carried."""

    version: int
    request_id_hash: bytes
    principal: Principal
    method: Method
    traceparent: str
    commit_time: datetime
    memory_change: bytes | None
    messages: tuple[Message, ...]
    tool_calls: tuple[ToolCall, ...]
    session: Session | None
    removed: tuple[int, int] | None
    """The first and last seq of the messages that it removed."""
    erased: bool


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
