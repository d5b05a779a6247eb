"""A session id is a locator, not a credential."""

from collections.abc import Callable
from typing import Any

from google.protobuf.field_mask_pb2 import FieldMask

from lockstitch.v1.checkpoint_pb2 import Checkpoint, CheckpointWrite
from lockstitch.v1.checkpoint_service_pb2 import (
    CopyCheckpointsRequest,
    DeleteCheckpointsRequest,
    GetCheckpointRequest,
    ListCheckpointsRequest,
    PutCheckpointRequest,
    PutCheckpointWritesRequest,
)
from lockstitch.v1.run_pb2 import RUN_STATUS_SUCCEEDED, Fence
from lockstitch.v1.run_service_pb2 import (
    CancelRunRequest,
    FinishRunRequest,
    GetRunRequest,
    ListRunsRequest,
    RenewRunRequest,
    StartRunRequest,
)
from lockstitch.v1.session_pb2 import Session
from lockstitch.v1.session_service_pb2 import (
    AppendRequest,
    CloseSessionRequest,
    CompleteToolCallRequest,
    CreateSessionRequest,
    DeleteSessionRequest,
    ForkSessionRequest,
    GetContextRequest,
    GetMemoryRequest,
    GetSessionRequest,
    ListCommitsRequest,
    ListMemoryVersionsRequest,
    ListMessagesRequest,
    ListSessionsRequest,
    ListToolCallsRequest,
    RemoveMessagesRequest,
    RestoreSessionRequest,
    StreamDraftRequest,
    UndeleteSessionRequest,
    UpdateMemoryRequest,
    UpdateMessageRequest,
    UpdateSessionRequest,
    UpdateToolCallRequest,
)
from lockstitch.v1.tool_call_pb2 import TOOL_CALL_STATUS_RUNNING, TOOL_CALL_STATUS_SUCCEEDED
from lockstitch_conformance.caller import Caller
from lockstitch_conformance.contents import answered, calling, patch, said
from lockstitch_conformance.refusals import Refusal, refused
from lockstitch_conformance.suite import Category, holds, same
from lockstitch_conformance.world import World

CATEGORY = Category("isolation", "a session id is a locator, not a credential")
Request = Callable[[str], Any]


def _reads_of_a_user() -> list[Request]:
    """Every read that users may make, of a session id."""
    return [
        lambda at: GetSessionRequest(session_id=at, recent_messages=9, include_memory=True),
        lambda at: GetSessionRequest(session_id=at, at_version=1),
        lambda at: GetSessionRequest(session_id=at, show_deleted=True),
        lambda at: GetMemoryRequest(session_id=at),
        lambda at: ListMemoryVersionsRequest(session_id=at),
        lambda at: ListMessagesRequest(session_id=at),
        lambda at: ListToolCallsRequest(session_id=at),
        lambda at: ListCommitsRequest(session_id=at),
        lambda at: GetContextRequest(session_id=at),
        lambda at: GetRunRequest(session_id=at, run_id="r"),
        lambda at: ListRunsRequest(session_id=at),
    ]


def _changes_of_a_user() -> list[Request]:
    """Every change that users may make."""
    title = FieldMask(paths=["title"])
    return [
        lambda at: AppendRequest(session_id=at, messages=[said("x")]),
        lambda at: UpdateSessionRequest(session=Session(session_id=at, title="x"), update_mask=title),
        lambda at: CloseSessionRequest(session_id=at),
        lambda at: RestoreSessionRequest(session_id=at),
        lambda at: DeleteSessionRequest(session_id=at),
        lambda at: UndeleteSessionRequest(session_id=at),
        lambda at: ForkSessionRequest(session_id=at),
        lambda at: CancelRunRequest(session_id=at, run_id="r"),
    ]


def _calls_of_an_engine() -> list[Request]:
    """What engines may do beside that."""
    fence = Fence(run_id="r", fencing_token=1)
    checkpoint = Checkpoint(checkpoint_id="1", format="f", data=b"d")
    write = CheckpointWrite(task_id="t", channel="c", format="f", data=b"d")
    running, ended = TOOL_CALL_STATUS_RUNNING, TOOL_CALL_STATUS_SUCCEEDED
    return [
        lambda at: UpdateMemoryRequest(session_id=at, change=patch('{"goal":"x"}')),
        lambda at: UpdateToolCallRequest(session_id=at, call_id="c1", status=running),
        lambda at: CompleteToolCallRequest(session_id=at, call_id="c1", status=ended, result_json="1"),
        lambda at: RemoveMessagesRequest(session_id=at, last=1),
        lambda at: UpdateMessageRequest(session_id=at, message_id="m1", message=said("x")),
        lambda at: StartRunRequest(session_id=at),
        lambda at: RenewRunRequest(session_id=at, fence=fence),
        lambda at: FinishRunRequest(session_id=at, fence=fence, status=RUN_STATUS_SUCCEEDED),
        lambda at: PutCheckpointRequest(session_id=at, checkpoint=checkpoint),
        lambda at: PutCheckpointWritesRequest(session_id=at, checkpoint_id="1", writes=[write]),
        lambda at: GetCheckpointRequest(session_id=at),
        lambda at: ListCheckpointsRequest(session_id=at),
        lambda at: DeleteCheckpointsRequest(session_id=at, all=True),
    ]


async def _of_the_users(world: World) -> str:
    """A session of the user's, with something of everything."""
    session_id = await world.engine.create(said("private", message_id="m1"), calling("c1"), user_id=world.user_id)
    await world.engine(UpdateMemoryRequest(session_id=session_id, change=patch('{"goal":"private"}')))
    await world.engine(PutCheckpointRequest(session_id=session_id, checkpoint=Checkpoint(checkpoint_id="1")))
    await world.engine(StartRunRequest(session_id=session_id, run_id="r"))
    return session_id


async def _tell_apart(caller: Caller, requests: list[Request], session_id: str, never: str) -> None:
    """Break where a caller can tell somebody else's session from one that never was."""
    for request in requests:
        foreign = await refused(caller(request(session_id)), "SESSION_NOT_FOUND")
        nobodys = await refused(caller(request(never)), "SESSION_NOT_FOUND")
        _is_the_same(foreign, nobodys, session_id, never, type(request(never)).__name__)


def _is_the_same(foreign: Refusal, nobodys: Refusal, session_id: str, never: str, what: str) -> None:
    same(foreign.text.replace(session_id, never), nobodys.text, f"the text of {what}")
    same(
        foreign.metadata.get("session_id", "").replace(session_id, never), nobodys.metadata.get("session_id", ""), what
    )
    same(set(foreign.metadata), set(nobodys.metadata), f"the metadata of {what}")


@CATEGORY.promise(
    "Another tenant's session reads like one that never was, by every read: the same code, text and details."
)
async def reads_of_another_tenant(world: World) -> None:
    session_id, never = await _of_the_users(world), world.fresh("s")
    await _tell_apart(world.stranger, _reads_of_a_user(), session_id, never)


@CATEGORY.promise("So does every change of it, and nothing of it is changed.")
async def changes_of_another_tenant(world: World) -> None:
    session_id, never = await _of_the_users(world), world.fresh("s")
    before = await world.engine.get(session_id)
    await _tell_apart(world.stranger, [*_changes_of_a_user(), *_calls_of_an_engine()], session_id, never)
    same(await world.engine.get(session_id), before, "the session")


@CATEGORY.promise("Another user's session reads like one that never was.")
async def reads_of_another_user(world: World) -> None:
    session_id, never = await _of_the_users(world), world.fresh("s")
    await _tell_apart(world.neighbour, _reads_of_a_user(), session_id, never)
    await world.user.get(session_id)


@CATEGORY.promise("So does every change of it, and nothing of it is changed.")
async def changes_of_another_user(world: World) -> None:
    session_id, never = await _of_the_users(world), world.fresh("s")
    before = await world.engine.get(session_id)
    await _tell_apart(world.neighbour, _changes_of_a_user(), session_id, never)
    same(await world.engine.get(session_id), before, "the session")


@CATEGORY.promise("Nobody subscribes to another's session, or writes a draft into it.")
async def streams_of_another(world: World) -> None:
    session_id, never = await _of_the_users(world), world.fresh("s")
    for caller in (world.stranger, world.neighbour):
        async with caller.subscribe(session_id) as foreign, caller.subscribe(never) as nobodys:
            told = await foreign.refused("SESSION_NOT_FOUND"), await nobodys.refused("SESSION_NOT_FOUND")
            _is_the_same(*told, session_id, never, "Subscribe")
            same(foreign.frames, [], "the frames that came before")
    head = StreamDraftRequest(request_id=world.fresh("d"), session_id=session_id, message=answered(), text="x")
    await refused(world.stranger.draft(head), "SESSION_NOT_FOUND")


@CATEGORY.promise("A user's list has its own sessions alone; no list has another tenant's.")
async def lists(world: World) -> None:
    mine = await world.user.create("a")
    theirs = await world.neighbour.create("a")
    for caller, wanted, foreign in ((world.user, mine, theirs), (world.neighbour, theirs, mine)):
        listed = {one.session_id for one in (await caller(ListSessionsRequest(page_size=1000))).sessions}
        holds(wanted in listed, "a user's own session is not in its list")
        holds(foreign not in listed, "another user's session is in the list")
    for user_id in ("", world.user_id):
        page = await world.stranger(ListSessionsRequest(user_id=user_id, page_size=1000))
        holds(not {mine, theirs} & {one.session_id for one in page.sessions}, "another tenant's session is in the list")


@CATEGORY.promise("The same id in two tenants names two sessions.")
async def the_same_id(world: World) -> None:
    session_id = world.fresh("s")
    await world.engine(CreateSessionRequest(session_id=session_id, messages=[said("one's")]))
    await world.stranger(CreateSessionRequest(session_id=session_id, messages=[said("the other's")]))
    same(await world.engine.texts(session_id), ["one's"], "one tenant's messages")
    same(await world.stranger.texts(session_id), ["the other's"], "the other tenant's messages")


@CATEGORY.promise("An id that is taken says so, and nothing else of whom it belongs to.")
async def a_taken_id(world: World) -> None:
    session_id = world.fresh("s")
    create = CreateSessionRequest(session_id=session_id, user_id=world.neighbour_id, title="private")
    await world.engine(create)
    refusal = await refused(world.engine(CreateSessionRequest(session_id=session_id, title="x")), "SESSION_EXISTS")
    told = refusal.details.decode(errors="replace")
    holds(world.neighbour_id not in told and "private" not in told, f"the refusal says {told!r}")


@CATEGORY.promise(
    "A request_id opens nothing: used for another's session it is SESSION_NOT_FOUND, in another tenant it is a new one."
)
async def request_ids(world: World) -> None:
    request_id = world.fresh("r")
    create = CreateSessionRequest(user_id=world.user_id, messages=[said("private")], request_id=request_id)
    session_id = (await world.engine(create)).session.session_id
    elsewhere = await world.stranger(create)
    holds(elsewhere.session.session_id != session_id, "a request_id found another tenant's session")
    holds(not elsewhere.receipt.replayed, "a request_id was replayed in another tenant")
    append = AppendRequest(session_id=session_id, messages=[said("b")], request_id=world.fresh("r"))
    await world.engine(append)
    for caller in (world.stranger, world.neighbour):
        await refused(caller(append), "SESSION_NOT_FOUND")


@CATEGORY.promise("A page token opens nothing: it belongs to its caller's tenant, its session and its other arguments.")
async def page_tokens(world: World) -> None:
    engine = world.engine
    session_id, other = await engine.create("a", "b", "c"), await engine.create("d", "e")
    foreign = await world.stranger.create("f", "g")
    token = (await engine(ListMessagesRequest(session_id=session_id, page_size=1))).next_page_token
    wrong: list[Any] = [
        ListMessagesRequest(session_id=other, page_size=1, page_token=token),
        ListMessagesRequest(session_id=session_id, page_size=1, page_token=token, descending=True),
        ListMessagesRequest(session_id=session_id, page_size=1, page_token=token[:-2]),
        ListMessagesRequest(session_id=session_id, page_token="forged"),  # noqa: S106 - no password
        ListCommitsRequest(session_id=session_id, page_token=token),
    ]
    for request in wrong:
        await refused(engine(request), "PAGE_TOKEN_INVALID")
    strangers = ListMessagesRequest(session_id=foreign, page_size=1, page_token=token)
    await refused(world.stranger(strangers), "PAGE_TOKEN_INVALID")


@CATEGORY.promise("Checkpoints are not copied out of another tenant's session, or into it.")
async def copies(world: World) -> None:
    session_id = await _of_the_users(world)
    own = await world.stranger.create()
    out = CopyCheckpointsRequest(session_id=session_id, target_session_id=own)
    await refused(world.stranger(out), "SESSION_NOT_FOUND")
    into = CopyCheckpointsRequest(session_id=own, target_session_id=session_id)
    await refused(world.stranger(into), "SESSION_NOT_FOUND")
    page = await world.stranger(ListCheckpointsRequest(session_id=own))
    same(list(page.checkpoints), [], "the checkpoints of one's own session")


@CATEGORY.promise("A list of checkpoints without a session has those of one's own tenant alone.")
async def lists_of_checkpoints(world: World) -> None:
    format_ = world.fresh("f")
    session_id = await world.engine.create()
    checkpoint = Checkpoint(checkpoint_id="1", format=format_, metadata_json=f'{{"mark":"{format_}"}}')
    await world.engine(PutCheckpointRequest(session_id=session_id, checkpoint=checkpoint))
    request = ListCheckpointsRequest(metadata_json=f'{{"mark":"{format_}"}}')
    same(len((await world.engine(request)).checkpoints), 1, "one's own")
    same(len((await world.stranger(request)).checkpoints), 0, "those of another tenant")
