"""What reads give, from the states that commits left."""

from collections import defaultdict
from hashlib import sha256
from typing import Any

from lockstitch.v1 import session_service_pb2 as pb
from lockstitch.v1.commit_pb2 import CallerRole, Commit, Principal
from lockstitch.v1.message_pb2 import ROLE_TOOL, Message
from lockstitch.v1.session_pb2 import SESSION_STATUS_ACTIVE, SESSION_STATUS_EXPIRED, Session
from lockstitch.v1.tool_call_pb2 import ToolCall
from model import Caller, ledger
from model.session import State, memory_change_of
from model.store import Store, Timeline


def head(state: State) -> Session:
    """The session now: EXPIRED is computed."""
    shown = Session.FromString(state.head.SerializeToString())
    if state.expired and shown.status == SESSION_STATUS_ACTIVE:
        shown.status = SESSION_STATUS_EXPIRED
    return shown


def commit(timeline: Timeline, version: int) -> Commit:
    """What one commit carried; its tool calls whole, as of then."""
    (before, after), (caller, request) = timeline.states[version - 1 : version + 1], timeline.log[version - 1]
    shown = Commit(
        version=version,
        request_id_hash=sha256(request.request_id.encode()).digest()[:16],
        principal=Principal(subject=caller.subject, role=CallerRole.Value(f"CALLER_ROLE_{caller.role.upper()}")),
        commit_time=after.head.update_time,
        messages=[message for message in after.messages if message.version == version],
        tool_calls=[call for call in after.calls if call not in before.calls],
        memory=memory_change_of(request) if after.head.memory_version == version else None,
    )
    if version == 1 or isinstance(request, pb.CloseSessionRequest | pb.RestoreSessionRequest):
        shown.session.CopyFrom(after.head)
    return shown


def messages(state: State, asked: Any) -> list[Message]:
    shown = [message for message in state.messages if not asked.roles or message.role in asked.roles]
    shown = [message for message in shown if asked.after_seq < message.seq < (asked.before_seq or message.seq + 1)]
    return shown[:: -1 if asked.descending else 1]


def tool_calls(state: State, asked: Any) -> list[ToolCall]:
    shown = [call for call in state.calls if not asked.statuses or call.status in asked.statuses]
    return [call for call in shown if call.name == (asked.name or call.name)]


def sessions(store: Store, caller: Caller, asked: Any) -> list[Session]:
    """The most recently used first; a user's own only."""
    of_tenant = [
        head(timeline.states[-1]) for (tenant, _), timeline in store.sessions.items() if tenant == caller.tenant
    ]
    user = caller.subject if caller.role == "user" else asked.user_id
    shown = [
        session for session in of_tenant if user in {"", session.user_id} and asked.user_id in {"", session.user_id}
    ]
    shown = [session for session in shown if session.status in (asked.statuses or [session.status])]
    shown = [session for session in shown if dict(asked.labels).items() <= dict(session.labels).items()]
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
