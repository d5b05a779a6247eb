"""The isolation matrix: every RPC that there is, whom it needs, and a request of it that would succeed."""

import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message_factory import GetMessageClass
from grpc import aio

import lockstitch.v1
from factories import RUNNING, called, fresh, patched, said
from lockstitch.v1.run_pb2 import RUN_STATUS_SUCCEEDED
from support.callers import CALL_SECONDS_MAX
from support.rpc import Refusal, taken_apart

OWNER = "u1"
CHILDREN = ("message_id", "tool_call_id", "call_id", "run_id", "fence", "checkpoint_id", "target_session_id")
"""Fields that name a part of a session."""

WRITE = {"task_id": "t", "channel": "c", "format": "f", "data": b"secret"}


def _methods() -> Iterator[MethodDescriptor]:
    for module in pkgutil.iter_modules(lockstitch.v1.__path__):
        if module.name.endswith("_service_pb2"):
            descriptor: Any = importlib.import_module(f"lockstitch.v1.{module.name}").DESCRIPTOR
            for service in descriptor.services_by_name.values():
                yield from service.methods


RPCS = {method.name: method for method in _methods()}


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a request needs to succeed."""

    role: str = "user"
    """The lowest role that may."""
    state: str = "open"
    """What the session must be: open, in a run, closed or deleted."""
    fields: dict[str, Any] = field(default_factory=dict)
    names: str = "session_id"
    """The field that says whose it is; "" where none does."""
    creates: bool = False
    children: tuple[str, ...] = ()
    """Fields that the request must fill with parts of its session to succeed."""


RECIPES = {
    "CreateSession": Recipe(fields={"title": "t"}, creates=True),
    "GetSession": Recipe(fields={"recent_messages": 5, "include_memory": True, "include_open_tool_calls": True}),
    "ListSessions": Recipe(names="user_id", fields={"page_size": 1}),
    "UpdateSession": Recipe(
        names="session.session_id", fields={"session": {"title": "mine"}, "update_mask": {"paths": ["title"]}}
    ),
    "Append": Recipe(fields={"messages": [said("mine")]}),
    "UpdateMemory": Recipe("engine", fields={"change": patched('{"mine":1}')}),
    "GetMemory": Recipe(),
    "ListMemoryVersions": Recipe(fields={"page_size": 1}),
    "UpdateToolCall": Recipe("engine", fields={"status": RUNNING}, children=("tool_call_id",)),
    "CompleteToolCall": Recipe("engine", fields={"result_json": "1"}, children=("tool_call_id",)),
    "ListToolCalls": Recipe(fields={"page_size": 1}),
    "ListMessages": Recipe(fields={"page_size": 1}),
    "RemoveMessages": Recipe("engine", fields={"last": 1}),
    "UpdateMessage": Recipe("engine", fields={"message": said("redacted")}, children=("message_id",)),
    "ListCommits": Recipe(fields={"page_size": 1}),
    "Subscribe": Recipe(),
    "GetContext": Recipe(),
    "CloseSession": Recipe(),
    "RestoreSession": Recipe(state="closed"),
    "DeleteSession": Recipe(),
    "UndeleteSession": Recipe(state="deleted"),
    "StreamDraft": Recipe("engine", fields={"text": "so far"}),
    "StartRun": Recipe("engine"),
    "RenewRun": Recipe("engine", state="in a run", children=("fence",)),
    "CancelRun": Recipe(state="in a run", children=("run_id",)),
    "FinishRun": Recipe("engine", state="in a run", fields={"status": RUN_STATUS_SUCCEEDED}, children=("fence",)),
    "GetRun": Recipe(state="in a run", children=("run_id",)),
    "ListRuns": Recipe(state="in a run", fields={"page_size": 1}),
    "ForkSession": Recipe(),
    "PutCheckpoint": Recipe("engine", fields={"checkpoint": {"checkpoint_id": "k9", "format": "f", "data": b"x"}}),
    "PutCheckpointWrites": Recipe("engine", fields={"checkpoint_id": "k1", "writes": [WRITE]}),
    "GetCheckpoint": Recipe("engine", children=("checkpoint_id",)),
    "ListCheckpoints": Recipe("engine", fields={"page_size": 1}),
    "CopyCheckpoints": Recipe("engine", children=("target_session_id",)),
    "DeleteCheckpoints": Recipe("engine", fields={"all": True}),
    "GetServerInfo": Recipe("engine", names=""),
    "PurgeSession": Recipe("admin", state="deleted"),
    "EraseUser": Recipe("admin", names="user_id"),
}


def recipe(rpc: str) -> Recipe:
    """The recipe of an RPC, which each must have."""
    assert rpc in RECIPES, f"{rpc} is new: say in {__file__} what a request of it needs to succeed"
    return RECIPES[rpc]


@dataclass(frozen=True, slots=True)
class Place:
    """A session, its user, and one of each of its parts."""

    session_id: str
    user_id: str
    parts: dict[str, Any]

    def named(self, made: Recipe) -> str:
        return self.user_id if made.names == "user_id" else self.session_id


NOWHERE = Place(
    "unknown-91",
    "unknown-u91",
    {
        "message_id": "msg_00000000000000ff_1",
        "tool_call_id": "call_00000000000000ff_1_1",
        "call_id": "never",
        "run_id": "run-unknown",
        "fence": {"run_id": "run-unknown", "fencing_token": 1},
        "checkpoint_id": "k-unknown",
        "target_session_id": "unknown-92",
    },
)


class Asker:
    """Calls any RPC, by its name, with these headers."""

    def __init__(self, target: str, authorization: str | None) -> None:
        self._channel = aio.insecure_channel(target)
        self._headers = [] if authorization is None else [("authorization", authorization)]

    async def ask(self, rpc: str, request: Any) -> "bytes | Refusal":
        """Give the answer's bytes, of a stream its first frame's; or the refusal."""
        method: Any = RPCS[rpc]
        path = f"/{method.containing_service.full_name}/{rpc}"
        kind = ("stream" if method.client_streaming else "unary") + ("_stream" if method.server_streaming else "_unary")
        call = getattr(self._channel, kind)(path, request_serializer=lambda sent: sent.SerializeToString())
        given = iter([request]) if method.client_streaming else request
        answer = call(given, metadata=self._headers, timeout=CALL_SECONDS_MAX)
        try:
            if not method.server_streaming:
                return bytes(await answer)
            frame = await answer.read()
            assert frame is not aio.EOF
            return bytes(frame)
        except aio.AioRpcError as error:
            return taken_apart(error)
        finally:
            answer.cancel()

    async def call(self, rpc: str, **fields: Any) -> Any:
        """Give the answer of a call that must succeed."""
        return await self.call_with(rpc, request_of(rpc, **fields))

    async def call_with(self, rpc: str, request: Any) -> Any:
        """The same, with a request that is made."""
        answer = await self.ask(rpc, request)
        assert isinstance(answer, bytes), (rpc, answer)
        return GetMessageClass(RPCS[rpc].output_type).FromString(answer)

    async def close(self) -> None:
        await self._channel.close()


def request_of(rpc: str, **fields: Any) -> Any:
    """Make a request, with a request_id of its own where it has one."""
    request: Any = GetMessageClass(RPCS[rpc].input_type)(**fields)
    if "request_id" in request.DESCRIPTOR.fields_by_name and not request.request_id:
        request.request_id = fresh("request")
    return request


def request_on(rpc: str, place: Place, **fields: Any) -> Any:
    """Make the request that would succeed on a place for whom it belongs to."""
    made = recipe(rpc)
    request = request_of(rpc, **made.fields)
    target, _, name = made.names.rpartition(".")
    if name:
        setattr(getattr(request, target) if target else request, name, place.named(made))
    for child in made.children:
        put(request, child, place.parts[child])
    for name, value in fields.items():
        put(request, name, value)
    return request


def put(request: Any, name: str, value: Any) -> None:
    """Set a field, be it a message or not."""
    request.ClearField(name)
    request.MergeFrom(type(request)(**{name: value}))


def has(rpc: str, name: str) -> bool:
    return name in RPCS[rpc].input_type.fields_by_name


async def prepare(rpc: str, engine: Asker, user_id: str = OWNER, *, agent: str = "") -> Place:
    """Make a session that an RPC would succeed on."""
    state = recipe(rpc).state
    session_id, call_id = fresh("session"), fresh("call")
    messages = [said("hello"), called(call_id, "c2"), said("secret")]
    made = await engine.call(
        "CreateSession",
        session_id=session_id,
        user_id=user_id,
        agent=agent,
        messages=messages,
        memory={"goal": "secret"},
    )
    await engine.call("UpdateMemory", session_id=session_id, change=patched('{"goal":"another secret"}'))
    target, checkpoints = fresh("target"), [fresh("k") for _ in range(2)]
    await engine.call("CreateSession", session_id=target, user_id=user_id, agent=agent)
    for checkpoint_id in checkpoints:
        checkpoint = {"checkpoint_id": checkpoint_id, "format": "f", "data": b"secret"}
        await engine.call("PutCheckpoint", session_id=session_id, checkpoint=checkpoint)
    fence: dict[str, Any] = {}
    for _ in range(2):
        if fence:
            await engine.call("FinishRun", session_id=session_id, fence=fence, status=RUN_STATUS_SUCCEEDED)
        run = (await engine.call("StartRun", session_id=session_id, lease={"seconds": 3600})).run
        fence = {"run_id": run.run_id, "fencing_token": run.fencing_token}
    if state != "in a run":
        await engine.call("FinishRun", session_id=session_id, fence=fence, status=RUN_STATUS_SUCCEEDED)
    if state == "closed":
        await engine.call("CloseSession", session_id=session_id)
    if state == "deleted":
        await engine.call("DeleteSession", session_id=session_id)
    parts = {
        "message_id": made.receipt.message_ids[0],
        "tool_call_id": made.receipt.tool_call_ids[0],
        "call_id": call_id,
        "run_id": fence["run_id"],
        "fence": fence,
        "checkpoint_id": checkpoints[0],
        "target_session_id": target,
    }
    return Place(session_id, user_id, parts)
