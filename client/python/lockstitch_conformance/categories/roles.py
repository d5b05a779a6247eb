"""Who calls is proved by a token, and a role says what may be done."""

import base64
from typing import Any

from google.protobuf.field_mask_pb2 import FieldMask

from lockstitch.v1.admin_service_pb2 import EraseUserRequest, GetServerInfoRequest, PurgeSessionRequest
from lockstitch.v1.checkpoint_pb2 import Checkpoint
from lockstitch.v1.checkpoint_service_pb2 import ListCheckpointsRequest, PutCheckpointRequest
from lockstitch.v1.commit_pb2 import CALLER_ROLE_USER
from lockstitch.v1.message_pb2 import ROLE_DEVELOPER, ROLE_SYSTEM, Message, Original, Part
from lockstitch.v1.run_pb2 import Fence
from lockstitch.v1.run_service_pb2 import CancelRunRequest, StartRunRequest
from lockstitch.v1.session_pb2 import Session
from lockstitch.v1.session_service_pb2 import (
    AppendRequest,
    CloseSessionRequest,
    CompleteToolCallRequest,
    CreateSessionRequest,
    RemoveMessagesRequest,
    StreamDraftRequest,
    UpdateMemoryRequest,
    UpdateMessageRequest,
    UpdateSessionRequest,
    UpdateToolCallRequest,
)
from lockstitch.v1.tool_call_pb2 import (
    TOOL_CALL_STATUS_AWAITING_APPROVAL,
    TOOL_CALL_STATUS_RUNNING,
    TOOL_CALL_STATUS_SUCCEEDED,
    Approval,
    ToolCallChange,
)
from lockstitch.v1.working_memory_pb2 import WorkingMemory
from lockstitch_conformance.contents import answered, calling, gave, patch, said
from lockstitch_conformance.refusals import refused
from lockstitch_conformance.suite import Category, same
from lockstitch_conformance.world import World

CATEGORY = Category("roles", "who calls is proved by a token, and a role says what may be done")


@CATEGORY.promise("A call without a token is TOKEN_MISSING, whatever it asks.")
async def no_token(world: World) -> None:
    nobody = world.bearing("")
    await refused(nobody.get(world.fresh("s")), "TOKEN_MISSING")
    await refused(nobody(AppendRequest()), "TOKEN_MISSING")
    async with nobody.subscribe(world.fresh("s")) as stream:
        await stream.refused("TOKEN_MISSING")


@CATEGORY.promise("A token that was tampered with, or made by nobody, is TOKEN_INVALID.")
async def forged_tokens(world: World) -> None:
    session_id = await world.user.create("a")
    head, claims, signature = [*world.token.split("."), "", ""][:3]
    other = base64.urlsafe_b64encode(b'{"sub":"somebody","tenant":"t","role":"admin"}').decode().rstrip("=")
    turned = ("B" if signature[:1] != "B" else "C") + signature[1:]
    nothing = base64.urlsafe_b64encode(b'{"alg":"none","typ":"JWT"}').decode().rstrip("=")
    for token in ("nonsense", f"{head}.{claims}.{turned}", f"{head}.{other}.{signature}", f"{nothing}.{claims}."):
        await refused(world.bearing(token).get(session_id), "TOKEN_INVALID")


@CATEGORY.promise(
    "A user may not write as the model, a tool or the system, nor hide an instruction in its own message."
)
async def users_speak_for_themselves(world: World) -> None:
    session_id = await world.user.create("a")
    text = [Part(text="x")]
    for message in (
        answered("x"),
        calling("c1"),
        gave("c1"),
        Message(role=ROLE_SYSTEM, parts=text),
        Message(role=ROLE_DEVELOPER, parts=text),
        said("x", author="somebody"),
        said("x", original=Original(format="f", data=b"d")),
    ):
        await refused(world.user.append(session_id, message), "ROLE_NOT_ALLOWED")
    same(await world.user.texts(session_id), ["a"], "the messages")


@CATEGORY.promise(
    "A user may not do what is an engine's: memory, tool calls, removals, runs, checkpoints, drafts, force."
)
async def users_are_no_engines(world: World) -> None:
    session_id = await world.engine.create(said("a", message_id="m1"), calling("c1"), user_id=world.user_id)
    labelled = Session(session_id=session_id, labels={"a": "b"})
    draft = StreamDraftRequest(request_id=world.fresh("d"), session_id=session_id, message=answered(), text="x")
    call = ToolCallChange(call_id="c2", name="n", arguments_json="{}")
    running, ended = TOOL_CALL_STATUS_RUNNING, TOOL_CALL_STATUS_SUCCEEDED
    labels = FieldMask(paths=["labels"])
    fence = Fence(run_id="r", fencing_token=1)
    requests: list[Any] = [
        UpdateMemoryRequest(session_id=session_id, change=patch('{"goal":"x"}')),
        AppendRequest(session_id=session_id, messages=[said("x")], memory_change=patch('{"goal":"x"}')),
        AppendRequest(session_id=session_id, tool_calls=[call]),
        AppendRequest(session_id=session_id, messages=[said("x")], fence=fence),
        AppendRequest(session_id=session_id, messages=[said("x")], allow_orphans=True),
        UpdateToolCallRequest(session_id=session_id, call_id="c1", status=running),
        CompleteToolCallRequest(session_id=session_id, call_id="c1", status=ended, result_json="1"),
        RemoveMessagesRequest(session_id=session_id, last=1),
        UpdateMessageRequest(session_id=session_id, message_id="m1", message=said("x")),
        UpdateSessionRequest(session=labelled, update_mask=labels, expected_version=1),
        StartRunRequest(session_id=session_id),
        CancelRunRequest(session_id=session_id, run_id="r", now=True),
        CloseSessionRequest(session_id=session_id, force=True),
        PutCheckpointRequest(session_id=session_id, checkpoint=Checkpoint(checkpoint_id="1")),
        ListCheckpointsRequest(session_id=session_id),
        CreateSessionRequest(memory=WorkingMemory(goal="x")),
        GetServerInfoRequest(),
    ]
    for request in requests:
        await refused(world.user(request), "ROLE_NOT_ALLOWED")
    await refused(world.user.draft(draft), "ROLE_NOT_ALLOWED")
    same((await world.engine.get(session_id)).version, 1, "the version")


@CATEGORY.promise("A user may not act in another user's name.")
async def users_are_themselves(world: World) -> None:
    await refused(world.user.create(user_id=world.neighbour_id), "ROLE_NOT_ALLOWED")
    session_id = await world.user.create()
    same((await world.engine.get(session_id)).user_id, world.user_id, "whose the session is")


@CATEGORY.promise("A user answers an approval, and an engine takes the answer.")
async def users_answer_approvals(world: World) -> None:
    session_id = await world.engine.create(calling("c1"), user_id=world.user_id)
    waiting = TOOL_CALL_STATUS_AWAITING_APPROVAL
    await world.engine(UpdateToolCallRequest(session_id=session_id, call_id="c1", status=waiting))
    approval = Approval(granted=True, note="yes")
    await world.user(UpdateToolCallRequest(session_id=session_id, call_id="c1", approval=approval))
    (call,) = await world.engine.tool_calls(session_id)
    same(call.approval, approval, "the approval")


@CATEGORY.promise("Purging and erasing are an admin's alone.")
async def admins_alone(world: World) -> None:
    session_id = await world.engine.create(user_id=world.user_id)
    for caller in (world.user, world.engine):
        await refused(caller(PurgeSessionRequest(session_id=session_id)), "ROLE_NOT_ALLOWED")
        await refused(caller(EraseUserRequest(user_id=world.user_id)), "ROLE_NOT_ALLOWED")
    await world.engine.get(session_id)


@CATEGORY.promise("Each commit records who made it: the token's subject and role, whatever the request says.")
async def commits_name_their_caller(world: World) -> None:
    session_id = await world.engine.create(user_id=world.user_id)
    await world.user.append(session_id, "a")
    commit = (await world.engine.commits(session_id, after_version=1))[0]
    same((commit.principal.subject, commit.principal.role), (world.user_id, CALLER_ROLE_USER), "the principal")
