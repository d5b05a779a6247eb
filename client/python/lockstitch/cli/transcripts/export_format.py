"""The format `lockstitch`: a session a line, and a long session in several lines, each of which fits into one request.

    {"format": "lockstitch/1", "session_id": …, "part": 1, "session": {…}, "memory": {…}, "messages": […],
     "tool_calls": [{"after": 2, "change": {…}}], "end": {"parts": 1, "messages": 2, "sha256": …}}

Fields are those of the protos. `tool_calls` holds what no message says of the ledger: `change` was made when so many of
the line's messages were stored. The last part has `end`, so that a file that was cut off is known as such.
"""

from collections.abc import Iterable

from lockstitch.cli.output import Plain, plain
from lockstitch.cli.transcripts.batches import BYTES_MAX, MESSAGES_MAX
from lockstitch.v1.message_pb2 import Message
from lockstitch.v1.session_pb2 import Session
from lockstitch.v1.tool_call_pb2 import ToolCall, ToolCallChange, ToolCallStatus
from lockstitch.v1.working_memory_pb2 import WorkingMemory

FORMAT = "lockstitch"
VERSION = "lockstitch/1"

_SILENT = frozenset(
    {
        ToolCallStatus.TOOL_CALL_STATUS_RUNNING,
        ToolCallStatus.TOOL_CALL_STATUS_AWAITING_APPROVAL,
        ToolCallStatus.TOOL_CALL_STATUS_CANCELLED,
        ToolCallStatus.TOOL_CALL_STATUS_INTERRUPTED,
    }
)


class Parts:
    """The lines of one session, as its messages come by."""

    def __init__(self, session: Session, memory: WorkingMemory, calls: Iterable[ToolCall]) -> None:
        """`calls` are those that the messages do not tell all about, oldest first; see `is_silent`."""
        self._session_id = session.session_id
        self._opening: Plain = {"session": plain(session, whole=False)}
        if memory.version:
            self._opening["memory"] = plain(memory, whole=False)
        self._of_messages: dict[str, list[ToolCall]] = {}
        self._alone: list[ToolCall] = []
        for call in calls:
            if call.message_id:
                self._of_messages.setdefault(call.message_id, []).append(call)
            else:
                self._alone.append(call)
        self._answering = {call.result_message_id for call in self._alone} - {""}
        self._part = 0
        self._written = 0
        self._begin()

    def _begin(self) -> None:
        self._part += 1
        self._messages: list[Plain] = []
        self._changes: list[Plain] = []
        self._bytes = 0

    def add(self, message: Message) -> Plain | None:
        """Take the next message in; gives a line where it was full."""
        # All that came along with a fork has one version: there, a call is at least older than its result.
        while self._alone and (
            self._alone[0].requested_version < message.version or message.message_id in self._answering
        ):
            call = self._alone.pop(0)
            self._answering.discard(call.result_message_id)
            self._change(new_call(call))
        size = message.ByteSize()
        is_full = len(self._messages) == MESSAGES_MAX or self._bytes + size > BYTES_MAX
        line = self._line() if self._messages and is_full else None
        self._messages.append(plain(message, whole=False))
        self._bytes += size
        self._written += 1
        for call in self._of_messages.pop(message.message_id, ()):
            for change in changes_of(call):
                self._change(change)
        return line

    def end(self, digest: str) -> Plain:
        """The last line."""
        for call in self._alone:
            self._change(new_call(call))
        line = self._line()
        return line | {"end": {"parts": self._part - 1, "messages": self._written, "sha256": digest}}

    def _change(self, change: ToolCallChange) -> None:
        self._changes.append({"after": len(self._messages), "change": plain(change, whole=False)})

    def _line(self) -> Plain:
        line: Plain = {"format": VERSION, "session_id": self._session_id, "part": self._part} | self._opening
        line["messages"] = self._messages
        if self._changes:
            line["tool_calls"] = self._changes
        self._opening = {}
        self._begin()
        return line


def is_silent(call: ToolCall) -> bool:
    """Whether the messages do not tell all about a call: no message made it, or something but a result became of it."""
    return not call.message_id or (not call.result_message_id and call.status in _SILENT)


def changes_of(call: ToolCall) -> list[ToolCallChange]:
    """What brings a call that a message made to where it stands, without a message."""
    change = ToolCallChange(call_id=call.call_id, status=call.status, error=call.error, resources=call.resources)
    if call.status != ToolCallStatus.TOOL_CALL_STATUS_CANCELLED:
        return [change]
    # To be cancelled without a result is to have been refused.
    asked = ToolCallChange(call_id=call.call_id, status=ToolCallStatus.TOOL_CALL_STATUS_AWAITING_APPROVAL)
    refused = ToolCallChange(call_id=call.call_id)
    refused.approval.granted = False
    refused.approval.note = call.approval.note
    return [asked, refused]


def new_call(call: ToolCall) -> ToolCallChange:
    """What records a call that no message made. One that a message answers is open until that comes."""
    change = ToolCallChange(
        call_id=call.call_id, name=call.name, arguments_json=call.arguments_json, resources=call.resources
    )
    if not call.result_message_id:
        change.status, change.result_json, change.error = call.status, call.result_json, call.error
    return change
