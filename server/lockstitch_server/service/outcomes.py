"""What the answers of the SQL functions mean to a caller: a receipt, or a domain error."""

from collections.abc import Callable, Sequence

from lockstitch_server import ids
from lockstitch_server.errors import (
    CursorAhead,
    ExpectedVersionRequired,
    InvalidField,
    LockstitchError,
    MessageIdExists,
    MessageNotFound,
    MessageTooLarge,
    QuotaExceeded,
    RequestIdReused,
    RunActive,
    RunEnded,
    RunFenced,
    RunNotFound,
    SessionClosed,
    SessionDeleted,
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
from lockstitch_server.model import Change, Content, MemoryWrite, Method, NewMessage, Receipt
from lockstitch_server.store.results import ChangeReport

MEMORY_KEY_MOVED = "memory_key_moved"
_SUCCESSES = frozenset({"committed", "replayed", "unchanged"})


def receipt(report: ChangeReport, change: Change, messages: Sequence[NewMessage] = ()) -> Receipt:
    """The receipt of a success; call `refusal` first."""
    if report.commit_time is None:
        raise ValueError("a success has a commit_time")
    key, count = change.session.key, report.new_messages
    first_seq = report.last_seq - count + 1 if count else 0
    own_ids = report.message_ids if report.message_ids is not None else [message.message_id for message in messages]
    return Receipt(
        session=change.session,
        version=report.version,
        first_seq=first_seq,
        last_seq=report.last_seq,
        message_ids=tuple(
            [own_id or ids.message_id(key, first_seq + place) for place, own_id in enumerate(own_ids[:count])]
        ),
        tool_call_ids=tuple([ids.tool_call_id(key, report.version, place) for place in range(report.new_tool_calls)]),
        memory_version=report.memory_version,
        commit_time=report.commit_time,
        replayed=report.outcome == "replayed",
    )


def refusal(report: ChangeReport, change: Change, content: Content) -> LockstitchError | None:
    """The error that a report stands for; None where it is a success."""
    if report.outcome in _SUCCESSES:
        return None
    return _REFUSALS[report.outcome](report, change, content)


def _session_exists(_: ChangeReport, change: Change, __: Content) -> LockstitchError:
    # A server-made id is a function of the request_id: to create with it and to meet other content is a reuse.
    reused = change.method in {Method.CREATE_SESSION, Method.FORK_SESSION} and ids.is_server_session_id(
        change.session.session_id
    )
    return RequestIdReused() if reused else SessionExists()


def _session_purged(_: ChangeReport, change: Change, __: Content) -> LockstitchError:
    # The id is taken, which is all that its creator is told; a late write or replay finds nothing.
    late = change.method not in {Method.CREATE_SESSION, Method.FORK_SESSION} or ids.is_server_session_id(
        change.session.session_id
    )
    return SessionNotFound() if late else SessionExists()


def _run_active(report: ChangeReport, _: Change, __: Content) -> LockstitchError:
    if report.lease_expire_time is None:
        raise ValueError("an active run has a lease")
    return RunActive(report.active_run_id, report.lease_expire_time)


def _run_of(error: Callable[[str], LockstitchError]) -> "Refusal":
    """The run is the one that the report names, else the fence's, else the one whose memory is changed."""

    def refused(report: ChangeReport, change: Change, content: Content) -> LockstitchError:
        fenced = "" if change.fence is None else change.fence.run_id
        of_memory = "" if content.memory is None else content.memory.run_id
        return error(report.active_run_id or fenced or of_memory)

    return refused


def _run_id_used(_: ChangeReport, __: Change, ___: Content) -> LockstitchError:
    return InvalidField("run_id", "is the active run's: a run_id is used once")


def _session_conflict(report: ChangeReport, change: Change, _: Content) -> LockstitchError:
    return _conflict("session", change.expected_version, report)


def _memory_conflict(report: ChangeReport, change: Change, _: Content) -> LockstitchError:
    return _conflict("memory", change.expected_memory_version, report)


def _conflict(what: str, expected: int | None, report: ChangeReport) -> LockstitchError:
    return VersionConflict(
        what=what,
        expected_version=expected or 0,
        current_version=report.version,
        memory_version=report.memory_version,
        last_seq=report.last_seq,
    )


def _message_id_exists(report: ChangeReport, change: Change, _: Content) -> LockstitchError:
    name = "replacement" if change.method is Method.REMOVE_MESSAGES else "messages"
    return MessageIdExists(field=f"{name}[{report.index - 1}].message_id")


def _tool_call_status(report: ChangeReport, _: Change, content: Content) -> LockstitchError:
    step = content.ledger[report.index - 1]
    status = "" if report.tool_call_status is None else report.tool_call_status.name
    if step.granted is not None:
        sentence = f"A {status} tool call does not wait for approval."
    else:
        sentence = f"A {status} tool call can't become {step.status.name if step.status else status}."
    return ToolCallStatusRefused(sentence, field=step.field, metadata={"status": status})


def _tool_call_full(report: ChangeReport, _: Change, content: Content) -> LockstitchError:
    field = content.ledger[report.index - 1].field
    return InvalidField(field, "the tool call holds as much of resources and errors as it may")


def _memory_full(_: ChangeReport, __: Change, content: Content) -> LockstitchError:
    field = content.memory.path if isinstance(content.memory, MemoryWrite) else "memory"
    return InvalidField(field, "the working memory would grow larger than it may")


def _expire_time_passed(_: ChangeReport, __: Change, ___: Content) -> LockstitchError:
    return InvalidField("expire_time", "must lie ahead, by the database's clock")


def _message_role(_: ChangeReport, __: Change, ___: Content) -> LockstitchError:
    return InvalidField("message.role", "must be the message's own")


def _message_call_id(_: ChangeReport, __: Change, ___: Content) -> LockstitchError:
    return InvalidField("message.call_id", "must be the message's own")


def _message_tool_calls(_: ChangeReport, __: Change, ___: Content) -> LockstitchError:
    return InvalidField(
        "message.parts", "must hold the message's own tool calls: the same call_ids and names, in order"
    )


def _message_not_found(_: ChangeReport, __: Change, ___: Content) -> LockstitchError:
    return MessageNotFound(field="message_id")


def _session_full(report: ChangeReport, _: Change, __: Content) -> LockstitchError:
    # Where something does not fit, the index says how much does.
    return SessionFull(
        f"The session would hold more than {report.index} messages, which is the most.",
        metadata={"limit": str(report.index)},
    )


def _fork_ahead(report: ChangeReport, _: Change, __: Content) -> LockstitchError:
    return CursorAhead(report.version, "at_version")


def _fork_splits(report: ChangeReport, _: Change, __: Content) -> LockstitchError:
    below, above = report.nearest
    nearest = {"nearest_below": str(below)} if below else {}
    nearest["nearest_above"] = str(above)
    problem = f"would split a tool call from its result; the nearest that do not: {' and '.join(nearest.values())}"
    return InvalidField("at_version", problem, nearest)


def _checkpoint_value(problem: str) -> "Refusal":
    return lambda report, _, __: InvalidField(f"checkpoint.values[{report.index - 1}].data", problem)


def _checkpoint_too_large(report: ChangeReport, _: Change, __: Content) -> LockstitchError:
    sentence = f"checkpoint is larger than {report.index} bytes with its values."
    return MessageTooLarge(sentence, field="checkpoint", metadata={"limit_bytes": str(report.index)})


def plain(outcome: str) -> LockstitchError:
    """The error of a refusal that says all by its word."""
    return _PLAIN[outcome]()


Refusal = Callable[[ChangeReport, Change, Content], LockstitchError]


def _plain(error: type[LockstitchError]) -> Refusal:
    return lambda _, __, ___: error()


def _of_step(error: type[LockstitchError]) -> Refusal:
    return lambda report, _, content: error(field=content.ledger[report.index - 1].field)


_PLAIN: dict[str, type[LockstitchError]] = {
    "session_not_found": SessionNotFound,
    "session_closed": SessionClosed,
    "session_expired": SessionExpired,
    "session_deleted": SessionDeleted,
    "run_not_found": RunNotFound,
}

_REFUSALS: dict[str, Refusal] = {
    "session_not_found": _plain(SessionNotFound),
    "session_exists": _session_exists,
    "session_closed": _plain(SessionClosed),
    "session_expired": _plain(SessionExpired),
    "session_deleted": _plain(SessionDeleted),
    "session_purged": _session_purged,
    "quota_exceeded": _plain(QuotaExceeded),
    "run_not_found": _plain(RunNotFound),
    "run_active": _run_active,
    "run_fenced": _run_of(RunFenced),
    "run_ended": _run_of(RunEnded),
    "run_id_used": _run_id_used,
    "fork_ahead": _fork_ahead,
    "fork_splits": _fork_splits,
    "parent_not_found": lambda _, __, ___: InvalidField("checkpoint.parent_id", "is no checkpoint of this namespace"),
    "checkpoint_cycle": lambda _, __, ___: InvalidField("checkpoint.parent_id", "comes from this checkpoint itself"),
    "value_not_found": _checkpoint_value("is left out, and no such version is stored"),
    "value_changed": _checkpoint_value("is not what this version holds"),
    "checkpoint_too_large": _checkpoint_too_large,
    "copied_value_differs": lambda _, __, ___: InvalidField(
        "target_session_id", "has a checkpoint with another value under the same version"
    ),
    "copied_cycle": lambda _, __, ___: InvalidField(
        "target_session_id", "has checkpoints that would come from themselves"
    ),
    "draft_lost": lambda _, __, ___: CursorAhead.of_draft(0),
    "session_full": _session_full,
    "request_id_reused": _plain(RequestIdReused),
    "version_required": _plain(ExpectedVersionRequired),
    "version_conflict": _session_conflict,
    "memory_conflict": _memory_conflict,
    "memory_full": _memory_full,
    "update_version_required": _plain(ExpectedVersionRequired),
    "message_id_exists": _message_id_exists,
    "message_not_found": _message_not_found,
    "message_role": _message_role,
    "message_call_id": _message_call_id,
    "message_tool_calls": _message_tool_calls,
    "tool_call_not_found": _of_step(ToolCallNotFound),
    "tool_call_ended": _of_step(ToolCallEnded),
    "tool_call_ambiguous": _of_step(ToolCallAmbiguous),
    "tool_call_status": _tool_call_status,
    "tool_call_full": _tool_call_full,
    "expire_time_passed": _expire_time_passed,
}
"""Every word that the SQL functions refuse with."""
