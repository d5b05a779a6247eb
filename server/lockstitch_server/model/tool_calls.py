"""The ledger of tool calls."""

from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum


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
    run_id: str
    arguments: bytes | None
    """Of a call that no message made."""
    result: bytes | None
    message_bytes: int = 0
    """The size of the message that made it, whether its body is here or not."""
    result_bytes: int = 0
    message_body: bytes | None = None
    result_body: bytes | None = None
