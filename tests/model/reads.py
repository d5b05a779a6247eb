"""What reads give, from the states that commits left."""

from collections import defaultdict
from hashlib import sha256
from typing import Any

from lockstitch.v1 import session_service_pb2 as pb
from lockstitch.v1.commit_pb2 import CallerRole, Commit, CommitBase, Principal
from lockstitch.v1.message_pb2 import ROLE_TOOL, Message
from lockstitch.v1.run_pb2 import Run
from lockstitch.v1.session_pb2 import SESSION_STATUS_ACTIVE, SESSION_STATUS_DELETED, SESSION_STATUS_EXPIRED, Session
from lockstitch.v1.tool_call_pb2 import ToolCall
from lockstitch.v1.working_memory_pb2 import MemoryChange, WorkingMemory
from model import Caller, checkpoints, ledger, memory, runs
from model.commits import Timeline
from model.lifecycle import STATUS_CHANGES
from model.requests import memory_change_of
from model.session import State
from model.store import Store


def head(state: State) -> Session:
    """The session now: EXPIRED is computed."""
    shown = Session.FromString(state.head.SerializeToString())
    if state.expired and shown.status == SESSION_STATUS_ACTIVE:
        shown.status = SESSION_STATUS_EXPIRED
    shown.last_activity_time.CopyFrom(state.present.activity)
    return shown


def commit(timeline: Timeline, version: int) -> Commit:
    """What one commit carried; its tool calls whole, as of then."""
    (before, after), (caller, request) = timeline.states[version - 1 : version + 1], timeline.log[version - 1]
    shown = Commit(
        version=version,
        request_id_hash=sha256(request.request_id.encode()).digest()[:16] if request else b"",
        principal=Principal(subject=caller.subject, role=CallerRole.Value(f"CALLER_ROLE_{caller.role.upper()}")),
        run_id=after.under,
        commit_time=after.head.update_time,
        messages=[message for message in after.messages if message.version == version],
        tool_calls=[call for call in after.calls if call not in before.calls],
        checkpoints=checkpoints.refs(before, after, request),
    )
    if isinstance(request, pb.ForkSessionRequest) and version == 1:
        del shown.messages[:], shown.tool_calls[:]
        shown.base.CopyFrom(CommitBase(session=after.head, version=1, last_seq=after.head.last_seq))
        return shown
    for run_id, known in after.memories.items():
        if known.version == version:
            shown.memory.CopyFrom(memory_change_of(request) or MemoryChange())
            shown.memory_run_id = run_id
    if version == 1 or isinstance(request, STATUS_CHANGES) or after.head.status != before.head.status:
        shown.session.CopyFrom(after.head)
    changed = [run for run in after.runs if run not in before.runs]
    if changed:
        shown.run.CopyFrom(changed[-1])
    if len(changed) > 1:
        shown.ended_run.CopyFrom(changed[0])
    return shown


def messages(state: State, asked: Any) -> list[Message]:
    shown = [message for message in state.messages if not asked.roles or message.role in asked.roles]
    shown = [message for message in shown if asked.run_id in {"", message.run_id}]
    shown = [message for message in shown if asked.after_seq < message.seq < (asked.before_seq or message.seq + 1)]
    return shown[:: -1 if asked.descending else 1]


def tool_calls(state: State, asked: Any) -> list[ToolCall]:
    shown = [call for call in state.calls if not asked.statuses or call.status in asked.statuses]
    shown = [call for call in shown if asked.run_id in {"", call.run_id}]
    return [call for call in shown if call.name == (asked.name or call.name)]


def runs_of(state: State, asked: Any) -> list[Run]:
    """The newest first."""
    shown = [runs.shown(state, run.run_id) for run in reversed(state.runs)]
    return [run for run in shown if run.status in (asked.statuses or [run.status])]


def memories(timeline: Timeline, run_id: str) -> list[WorkingMemory]:
    """A memory as it was after each commit that changed it, the newest first."""
    known = {state.memory(run_id).version: state.memory(run_id) for state in timeline.states}
    return [memory.shown(known[version]) for version in sorted(known, reverse=True) if version]


def sessions(store: Store, caller: Caller, asked: Any) -> list[Session]:
    """The most recently used first; a user's own only."""
    of_tenant = [
        head(timeline.states[-1])
        for (tenant, _), timeline in store.sessions.items()
        if tenant == caller.tenant and not timeline.is_purged
    ]
    of_tenant = [shown for shown in of_tenant if asked.show_deleted or shown.status != SESSION_STATUS_DELETED]
    user = caller.subject if caller.role == "user" else asked.user_id
    shown = [
        session for session in of_tenant if user in {"", session.user_id} and asked.user_id in {"", session.user_id}
    ]
    shown = [session for session in shown if session.status in (asked.statuses or [session.status])]
    shown = [session for session in shown if dict(asked.labels).items() <= dict(session.labels).items()]
    shown = [session for session in shown if asked.forked_from in {"", session.forked_from.session_id}]
    return sorted(shown, key=lambda shown: (shown.last_activity_time.ToNanoseconds(), shown.session_id), reverse=True)


def context(state: State, max_messages: int) -> list[Message]:
    """The newest units that the limit takes: a message, or calls with their results behind them in call order."""
    stored, results = {message.message_id: message for message in state.messages}, defaultdict(list)
    for call in state.calls:
        if call.message_id and call.result_message_id:
            results[call.message_id].append(stored[call.result_message_id])
    units = [[message, *results[message.message_id]] for message in state.messages if message.role != ROLE_TOOL]
    taken: list[Message] = []
    while units and len(taken) + len(units[-1]) <= max_messages:
        taken[:0] = units.pop()
    return taken


def open_calls(state: State) -> list[ToolCall]:
    return [call for call in state.calls if call.status in ledger.OPEN]
