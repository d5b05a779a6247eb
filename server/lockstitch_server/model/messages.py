"""Messages: new, changed, stored."""

from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum

from lockstitch_server.model.tool_calls import LedgerChange


class MessageRole(IntEnum):
    """Who a message speaks for."""

    USER = 1
    ASSISTANT = 2
    TOOL = 3
    SYSTEM = 4
    DEVELOPER = 5


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A message to store: its content as the caller sent it, serialized, and what the store needs to see of it."""

    role: MessageRole
    body: bytes
    message_id: str | None = None
    call_id: str | None = None
    event_time: datetime | None = None


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
    run_id: str = ""
    removed_version: int = 0
    erased: bool = False
