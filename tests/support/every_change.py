"""One request of each kind of change there is, for promises that hold of them all."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import Message

from factories import ASSISTANT, RUNNING, answered, called, fresh, keyed, patched, replaced, said
from lockstitch.v1 import checkpoint_service_pb2, run_service_pb2, session_service_pb2
from lockstitch.v1.run_pb2 import RUN_STATUS_FAILED, RUN_STATUS_SUCCEEDED
from support.rpc import Rpc

pb: Any = session_service_pb2
runs_pb: Any = run_service_pb2
checkpoints_pb: Any = checkpoint_service_pb2
"""Requests are written as nested dictionaries here, which the stubs take and their types do not say."""
RUN = {"run_id": "run-1", "fencing_token": 1}
"""The fence of the run that `ready_for` starts for UNDER_RUN."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a session that `prepared` made."""

    request: Message
    other: dict[str, Any]
    """Fields that make it another request; none where it has no content but whose session it is."""

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
_CHECKPOINT = {
    "checkpoint_id": "1",
    "namespace": "n",
    "data": b"x",
    "metadata_json": '{"a": 1}',
    "values": [{"channel": "c", "version": "1", "data": b"v"}],
    "writes": [{"task_id": "t", "channel": "c", "data": b"w"}],
}
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
    "PutCheckpoint, create_if_missing": Change(
        checkpoints_pb.PutCheckpointRequest(checkpoint=_CHECKPOINT, create_if_missing={"user_id": "u1"}),
        {"checkpoint": {"checkpoint_id": "2"}},
    ),
}
RESTORE = {"RestoreSession": Change(pb.RestoreSessionRequest(ttl={"seconds": 3600}), {"ttl": {"seconds": 60}})}
UNDELETE = {"UndeleteSession": Change(pb.UndeleteSessionRequest(), {})}
ENDS = {
    "CloseSession": Change(pb.CloseSessionRequest(reason="done"), {"reason": "tired"}),
    "DeleteSession": Change(pb.DeleteSessionRequest(), {}),
}
"""What takes a session out of use, and is not refused for a state but its own."""
UNDER_RUN = {
    "PutCheckpoint, under a run": Change(
        checkpoints_pb.PutCheckpointRequest(fence=RUN, checkpoint=_CHECKPOINT), {"checkpoint": {"checkpoint_id": "2"}}
    ),
    "FinishRun": Change(
        runs_pb.FinishRunRequest(fence=RUN, status=RUN_STATUS_FAILED, error="no luck"), {"error": "no\nluck"}
    ),
    "CancelRun": Change(runs_pb.CancelRunRequest(run_id="run-1"), {"run_id": "run-2"}),
    "CancelRun, now": Change(runs_pb.CancelRunRequest(run_id="run-1", now=True), {"now": False}),
    "StartRun, interrupting": Change(
        runs_pb.StartRunRequest(run_id="run-2", on_busy=runs_pb.ON_BUSY_INTERRUPT), {"run_id": "run-3"}
    ),
    "Append, under a run": Change(
        pb.AppendRequest(fence=RUN, messages=_MESSAGES, memory_change=replaced(goal="r")),
        {"messages": [said("another")]},
    ),
    "Append, the run's last": Change(
        pb.AppendRequest(fence=RUN, messages=[answered("c1")], finish_run={"status": RUN_STATUS_SUCCEEDED}),
        {"finish_run": {"status": RUN_STATUS_FAILED}},
    ),
    "Append, the run's end alone": Change(
        pb.AppendRequest(fence=RUN, finish_run={"status": RUN_STATUS_FAILED, "error": "e"}),
        {"finish_run": {"status": RUN_STATUS_FAILED, "error": "f"}},
    ),
    "UpdateMemory, a run's": Change(
        pb.UpdateMemoryRequest(fence=RUN, run_id="run-1", change=replaced(goal="own")), {"change": replaced(goal="s")}
    ),
    "UpdateSession, under a run": Change(
        pb.UpdateSessionRequest(fence=RUN, session={"labels": {"x": "1"}}, update_mask={"paths": ["labels"]}),
        {"update_mask": {"paths": ["labels", "metadata_json"]}},
    ),
}
"""Changes of a session whose run RUN is active."""
FREE_UPDATES = {
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
    "PutCheckpoint": Change(
        checkpoints_pb.PutCheckpointRequest(checkpoint=_CHECKPOINT), {"checkpoint": {"checkpoint_id": "2"}}
    ),
    "StartRun": Change(
        runs_pb.StartRunRequest(run_id="run-1", worker="w", lease={"seconds": 60}, labels={"a": "1", "b": "2"}),
        {"worker": "another"},
    ),
    "StartRun, server-made id": Change(runs_pb.StartRunRequest(), {"lease": {"seconds": 31}}),
}
CHANGES = FREE_UPDATES | UNDER_RUN
"""What an active session alone takes."""
UPDATES = CHANGES | ENDS
EVERY = CREATES | UPDATES | RESTORE | UNDELETE
WITH_CONTENT = {name: change for name, change in EVERY.items() if change.other}


async def prepared(create: Callable[..., Any], **fields: Any) -> str:
    """Make a session that every one of FREE_UPDATES can change: open calls, memory, messages."""
    messages = [said("hi", message_id="first"), called("c1", "c2"), said("last")]
    session_id: str = await create(memory={"goal": "g", "extra_json": '{"a":{"b":1}}'}, messages=messages, **fields)
    return session_id


async def ready_for(name: str, engine: Rpc, create: Callable[..., Any], **fields: Any) -> str:
    """Give the id of a session that EVERY[name] can be made on."""
    if name in CREATES:
        return fresh("new")
    session_id = await prepared(create, **fields)
    if name in RESTORE:
        await engine.CloseSession(session_id=session_id)
    elif name in UNDELETE:
        await engine.DeleteSession(session_id=session_id)
    elif name in UNDER_RUN:
        await engine.StartRun(session_id=session_id, run_id=RUN["run_id"])
    return session_id


async def out_of_use(name: str, engine: Rpc, session_id: str) -> None:
    """Close the session that EVERY[name] changed, whatever it left; a deleted one stays deleted."""
    if name != "DeleteSession":
        await engine.CloseSession(session_id=session_id, force=True)


async def session_of(engine: Rpc, session_id: str) -> Any:
    """Give a session, deleted or not."""
    return (await engine.GetSession(session_id=session_id, show_deleted=True)).session
