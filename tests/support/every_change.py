"""One request of each kind of change there is, for promises that hold of them all."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import Message

from factories import ASSISTANT, RUNNING, answered, called, fresh, keyed, patched, replaced, said
from lockstitch.v1 import session_service_pb2
from support.rpc import Rpc

pb: Any = session_service_pb2
"""Requests are written as nested dictionaries here, which the stubs take and their types do not say."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a session that `prepared` made."""

    request: Message
    other: dict[str, Any]
    """Fields that make it another request."""

    def on(self, session_id: str, **fields: Any) -> Any:
        """Give the request for a session, with a request_id of its own."""
        request: Any = type(self.request)()
        request.CopyFrom(self.request)
        request.request_id = fresh("request")
        if "session" in request.DESCRIPTOR.fields_by_name:
            request.session.session_id = session_id
        elif request.DESCRIPTOR.name != "CreateSessionRequest" or self.request.session_id:  # type: ignore[attr-defined]
            request.session_id = session_id
        request.MergeFrom(type(request)(**fields))
        return request

    def as_another(self, request: Any) -> Any:
        """Give a request that differs from this one in its content only."""
        another = type(request)()
        another.CopyFrom(request)
        for field in self.other:
            another.ClearField(field)
        another.MergeFrom(type(request)(**self.other))
        return another


_MESSAGES = [said("one", message_id="m-1"), called("c5"), said("two", role=ASSISTANT)]
CREATES = {
    "CreateSession, own id": Change(
        pb.CreateSessionRequest(
            session_id="x", user_id="u1", title="t", labels={"a": "1", "b": "2"}, messages=_MESSAGES
        ),
        {"title": "another"},
    ),
    "CreateSession, server-made id": Change(
        pb.CreateSessionRequest(user_id="u1", memory={"goal": "g"}, ttl={"seconds": 3600}), {"ttl": {"seconds": 3601}}
    ),
    "Append, create_if_missing": Change(
        pb.AppendRequest(messages=_MESSAGES, create_if_missing={"user_id": "u1"}), {"messages": [said("another")]}
    ),
}
RESTORE = {"RestoreSession": Change(pb.RestoreSessionRequest(ttl={"seconds": 3600}), {"ttl": {"seconds": 60}})}
UPDATES = {
    "Append, messages": Change(pb.AppendRequest(messages=_MESSAGES), {"messages": [said("another")]}),
    "Append, a result": Change(pb.AppendRequest(messages=[answered("c1")]), {"messages": [answered("c1", "0")]}),
    "Append, tool calls": Change(
        pb.AppendRequest(
            tool_calls=[
                {"call_id": "c1", "result_json": "1"},
                {"call_id": "c9", "name": "n", "arguments_json": '{"a":1}', "status": RUNNING},
            ]
        ),
        {"tool_calls": [{"call_id": "c1", "error": "no"}]},
    ),
    "Append, all at once": Change(
        pb.AppendRequest(
            messages=_MESSAGES, tool_calls=[{"call_id": "c2", "error": "no"}], memory_change=patched('{"a":{"c":2}}')
        ),
        {"memory_change": patched('{"a":{"c":3}}')},
    ),
    "UpdateMemory, merge patch": Change(
        pb.UpdateMemoryRequest(change=patched('{"a":{"b":null,"c":2},"goal":"h"}')), {"change": patched("{}")}
    ),
    "UpdateMemory, replace": Change(
        pb.UpdateMemoryRequest(change=replaced(goal="r"), force=True), {"change": replaced(goal="s")}
    ),
    "UpdateMemory, set": Change(
        pb.UpdateMemoryRequest(
            change={"set": {"memory": {"plan": ["p"]}, "update_mask": {"paths": ["plan", "goal"]}}}, force=True
        ),
        {"change": {"set": {"memory": {"plan": ["q"]}, "update_mask": {"paths": ["plan", "goal"]}}}},
    ),
    "UpdateMemory, keys": Change(
        pb.UpdateMemoryRequest(change=keyed("goal", k="1", j="null")), {"change": keyed(k="1", j="null")}
    ),
    "UpdateToolCall": Change(
        pb.UpdateToolCallRequest(call_id="c1", status=RUNNING, resources=[{"uri": "u", "before": "b"}]),
        {"resources": [{"uri": "v"}]},
    ),
    "CompleteToolCall": Change(
        pb.CompleteToolCallRequest(call_id="c1", result_json='{"r":1}'), {"result_json": '{"r": 1}'}
    ),
    "CloseSession": Change(pb.CloseSessionRequest(reason="done"), {"reason": "tired"}),
    "UpdateSession": Change(
        pb.UpdateSessionRequest(
            session={"title": "new", "labels": {"x": "1", "y": "2"}},
            update_mask={"paths": ["title", "labels"]},
            force=True,
        ),
        {"update_mask": {"paths": ["title"]}},
    ),
    "RemoveMessages": Change(
        pb.RemoveMessagesRequest(last=1, replacement=[said("instead")]), {"replacement": [said("another")]}
    ),
    "UpdateMessage": Change(
        pb.UpdateMessageRequest(message_id="first", message=said("redacted")), {"message": said("another")}
    ),
}
EVERY = CREATES | UPDATES | RESTORE


async def prepared(create: Callable[..., Any], **fields: Any) -> str:
    """Make a session that every one of UPDATES can change: open calls, memory, messages."""
    messages = [said("hi", message_id="first"), called("c1", "c2"), said("last")]
    session_id: str = await create(memory={"goal": "g", "extra_json": '{"a":{"b":1}}'}, messages=messages, **fields)
    return session_id


async def ready_for(name: str, engine: Rpc, create: Callable[..., Any]) -> str:
    """Give the id of a session that EVERY[name] can be made on."""
    if name in CREATES:
        return fresh("new")
    session_id = await prepared(create)
    if name in RESTORE:
        await engine.CloseSession(session_id=session_id)
    return session_id
