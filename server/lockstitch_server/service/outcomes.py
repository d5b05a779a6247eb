"""What the answers of the SQL functions mean to a caller: a receipt, or a domain error."""

from collections.abc import Sequence
from datetime import datetime

from lockstitch_server import ids
from lockstitch_server.errors import (
    ExpectedVersionRequired,
    InvalidField,
    LockstitchError,
    MessageIdExists,
    RequestIdReused,
    SessionClosed,
    SessionExists,
    SessionExpired,
    SessionFull,
    SessionNotFound,
    ToolCallAmbiguous,
    ToolCallEnded,
    ToolCallNotFound,
    ToolCallStatusRefused,
    VersionConflict,
)
from lockstitch_server.model import Change, Content, MemoryWrite, NewMessage, Receipt
from lockstitch_server.store.results import ChangeReport

MEMORY_KEY_MOVED = "memory_key_moved"
_SUCCESSES = frozenset({"committed", "replayed", "unchanged"})
_PLAIN: dict[str, type[LockstitchError]] = {
    "session_not_found": SessionNotFound,
    "session_closed": SessionClosed,
    "session_expired": SessionExpired,
    "request_id_reused": RequestIdReused,
    "version_required": ExpectedVersionRequired,
}
_OF_LEDGER: dict[str, type[LockstitchError]] = {
    "tool_call_not_found": ToolCallNotFound,
    "tool_call_ended": ToolCallEnded,
    "tool_call_ambiguous": ToolCallAmbiguous,
}


def receipt(report: ChangeReport, change: Change, messages: Sequence[NewMessage] = ()) -> Receipt:
    """The receipt of a success; call `refusal` first."""
    key, count = change.session.key, report.new_messages
    first_seq = report.last_seq - count + 1 if count else 0
    own_ids = report.message_ids if report.message_ids is not None else [message.message_id for message in messages]
    return Receipt(
        session=change.session,
        version=report.version,
        first_seq=first_seq,
        last_seq=report.last_seq,
        message_ids=tuple(
            own_id or ids.message_id(key, first_seq + place)
            for place, own_id in zip(range(count), own_ids, strict=False)
        ),
        tool_call_ids=tuple(ids.tool_call_id(key, report.version, place) for place in range(report.new_tool_calls)),
        memory_version=report.memory_version,
        commit_time=_required(report.commit_time),
        replayed=report.outcome == "replayed",
    )


def refusal(report: ChangeReport, change: Change, content: Content) -> LockstitchError | None:
    """The error that a report stands for; None where it is a success."""
    outcome = report.outcome
    if outcome in _SUCCESSES:
        return None
    if outcome in _PLAIN:
        return _PLAIN[outcome]()
    if outcome in _OF_LEDGER:
        return _OF_LEDGER[outcome](field=content.ledger[report.index - 1].field)
    match outcome:
        case "session_exists":
            # A server-made id is a function of the request_id: meeting other content there is a reuse.
            taken = RequestIdReused if ids.is_server_session_id(change.session.session_id) else SessionExists
            return taken()
        case "version_conflict" | "memory_conflict":
            return _conflict(report, change)
        case "message_id_exists":
            return MessageIdExists(field=f"messages[{report.index - 1}].message_id")
        case "tool_call_status":
            return _status_refused(report, content)
        case "expire_time_passed":
            return InvalidField("expire_time", "must lie ahead, by the database's clock")
        case "session_full":
            return SessionFull("The session holds as many messages as it may.")
        case "tool_call_full":
            return InvalidField(content.ledger[report.index - 1].field, "the call holds as much of resources as it may")
        case "memory_full":
            field = content.memory.field if isinstance(content.memory, MemoryWrite) else "memory"
            return InvalidField(field, "the working memory would grow larger than it may")
        case _:
            raise ValueError(outcome)


def _conflict(report: ChangeReport, change: Change) -> VersionConflict:
    of_memory = report.outcome == "memory_conflict"
    expected = change.expected_memory_version if of_memory else change.expected_version
    return VersionConflict(
        what="memory" if of_memory else "session",
        expected_version=expected or 0,
        current_version=report.version,
        memory_version=report.memory_version,
        last_seq=report.last_seq,
    )


def _status_refused(report: ChangeReport, content: Content) -> ToolCallStatusRefused:
    step = content.ledger[report.index - 1]
    status = "" if report.tool_call_status is None else report.tool_call_status.name
    if step.granted is not None:
        sentence = f"A {status} tool call does not wait for approval."
    else:
        sentence = f"A {status} tool call can't become {step.status.name if step.status else status}."
    return ToolCallStatusRefused(sentence, field=step.field, metadata={"status": status})


def _required(commit_time: datetime | None) -> datetime:
    if commit_time is None:
        message = "a success has a commit_time"
        raise ValueError(message)
    return commit_time
