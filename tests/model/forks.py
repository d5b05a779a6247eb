"""Forks: a session of its own out of another one as it was."""

from collections.abc import Sequence

from lockstitch.v1.message_pb2 import Message
from lockstitch.v1.session_pb2 import SESSION_STATUS_ACTIVE, ForkedFrom, Session
from lockstitch.v1.session_service_pb2 import ForkSessionRequest
from lockstitch.v1.tool_call_pb2 import ToolCall
from model import Given, Refused, ledger
from model.memory import Memory
from model.session import State

UNSETTLED = {*ledger.OPEN, ledger.INTERRUPTED}
OF_SERVER = "msg_"
"""What message ids begin with that no caller chose."""


def source_of(states: Sequence[State], request: ForkSessionRequest) -> State:
    """The state that is copied."""
    now = states[-1]
    version = request.at_version if request.HasField("at_version") else now.head.version
    if version > now.head.version:
        raise Refused("CURSOR_AHEAD", current_version=now.head.version)
    whole = [number for number in range(1, now.head.version + 1) if is_whole(states[number], now)]
    if version not in whole:
        below = [number for number in whole if number < version]
        nearest = {"nearest_below": max(below)} if below else {}
        raise Refused("INVALID_FIELD", **nearest, nearest_above=min(number for number in whole if number > version))
    return states[version]


def is_whole(then: State, now: State) -> bool:
    """Whether no call had its outcome still to come that has one by now."""
    outcomes = {call.tool_call_id: call.status for call in now.calls if call.status not in UNSETTLED}
    return not any(call.status in UNSETTLED and call.tool_call_id in outcomes for call in then.calls)


def copy_of(source: State, now: State, request: ForkSessionRequest, session_id: str, given: Given) -> State:
    """What comes along, as of the fork's first version; its life is the source's of now."""
    then = source.head
    head = Session(
        session_id=session_id,
        tenant_id=then.tenant_id,
        user_id=then.user_id,
        agent=then.agent,
        title=request.title or then.title,
        labels=request.labels,
        metadata_json=then.metadata_json,
        status=SESSION_STATUS_ACTIVE,
        last_seq=then.last_seq,
        message_count=then.message_count,
        memory_version=min(then.memory_version, 1),
        forked_from=ForkedFrom(session_id=then.session_id, version=then.version),
    )
    if now.head.HasField("expire_time") and not now.present.is_over:
        head.expire_time.CopyFrom(now.head.expire_time)
    if now.head.HasField("idle_ttl"):
        head.idle_ttl.CopyFrom(now.head.idle_ttl)
    fork = State(head)
    fork.begin_version("")
    own_ids = {"": ""}
    for message, made in zip(source.messages, given.message_ids or ("",) * len(source.messages), strict=True):
        copied = Message.FromString(message.SerializeToString())
        copied.version, copied.run_id = 1, ""
        copied.message_id = made if message.message_id.startswith(OF_SERVER) else message.message_id
        own_ids[message.message_id] = copied.message_id
        fork.messages.append(copied)
    for call, made in zip(source.calls, given.tool_call_ids or ("",) * len(source.calls), strict=True):
        known = ToolCall.FromString(call.SerializeToString())
        known.tool_call_id, known.run_id, known.requested_version = made, "", 1
        known.ended_version = min(call.ended_version, 1)
        known.message_id, known.result_message_id = own_ids[call.message_id], own_ids[call.result_message_id]
        fork.calls.append(known)
    if then.memory_version:
        fork.memories[""] = Memory(source.memory().values, 1)
    fork.end_version(given.now, is_use=True)
    return fork
