"""A retry is not a second write."""

import asyncio
import hashlib
from collections.abc import Awaitable
from typing import Any

from google.protobuf.field_mask_pb2 import FieldMask

from lockstitch.v1.checkpoint_pb2 import Checkpoint
from lockstitch.v1.checkpoint_service_pb2 import PutCheckpointRequest
from lockstitch.v1.commit_pb2 import CommitReceipt
from lockstitch.v1.run_pb2 import RUN_STATUS_SUCCEEDED
from lockstitch.v1.run_service_pb2 import CancelRunRequest, FinishRunRequest, StartRunRequest
from lockstitch.v1.session_pb2 import Session
from lockstitch.v1.session_service_pb2 import (
    AppendRequest,
    CloseSessionRequest,
    CompleteToolCallRequest,
    CreateSessionRequest,
    DeleteSessionRequest,
    ForkSessionRequest,
    RemoveMessagesRequest,
    RestoreSessionRequest,
    UndeleteSessionRequest,
    UpdateMemoryRequest,
    UpdateMessageRequest,
    UpdateSessionRequest,
    UpdateToolCallRequest,
)
from lockstitch.v1.tool_call_pb2 import TOOL_CALL_STATUS_RUNNING, TOOL_CALL_STATUS_SUCCEEDED
from lockstitch_conformance.contents import calling, fence, patch, said
from lockstitch_conformance.refusals import refused
from lockstitch_conformance.suite import Category, holds, same
from lockstitch_conformance.world import World

CATEGORY = Category("replay", "a retry is not a second write")
AT_ONCE = 6


async def _is_replayed(world: World, request: Any) -> Any:
    """Make a change twice; its second receipt must be the first, field for field. Gives the second answer."""
    engine = world.engine
    request.request_id = world.fresh("r")
    first, second = await engine.send(request), await engine.send(request)
    wanted = CommitReceipt()
    wanted.CopyFrom(first.receipt)
    wanted.replayed = True
    holds(not first.receipt.replayed, "the first answer says that it is a replay")
    same(second.receipt, wanted, f"the receipt of a repeated {type(request).__name__}")
    return second


@CATEGORY.promise(
    "An append that is sent again gives the same receipt, field for field, with `replayed`, and stores nothing."
)
async def an_append(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    append = AppendRequest(session_id=session_id, messages=[said("a"), calling("c1")], memory_change=patch('{"a":1}'))
    await _is_replayed(world, append)
    session = await engine.get(session_id)
    same((session.version, session.last_seq), (2, 2), "version and last_seq")
    same(len(await engine.messages(session_id)), 2, "the number of messages")
    same(len(await engine.tool_calls(session_id)), 1, "the number of tool calls")


@CATEGORY.promise("So does every change of memory, fields and messages.")
async def changes_of_content(world: World) -> None:
    session_id = await world.engine.create(said("a", message_id="m1"), "b", "c")
    titled = Session(session_id=session_id, title="t")
    message = said("a, changed")
    await _is_replayed(world, UpdateMemoryRequest(session_id=session_id, change=patch('{"goal":"g"}')))
    await _is_replayed(world, UpdateSessionRequest(session=titled, update_mask=FieldMask(paths=["title"])))
    await _is_replayed(world, UpdateMessageRequest(session_id=session_id, message_id="m1", message=message))
    again = await _is_replayed(world, RemoveMessagesRequest(session_id=session_id, last=1))
    same([gone.parts[0].text for gone in again.removed], ["c"], "what a repeated removal gives back")
    same(await world.engine.texts(session_id), ["a, changed", "b"], "the messages")


@CATEGORY.promise("So do changes of tool calls and checkpoints.")
async def changes_of_tool_calls_and_checkpoints(world: World) -> None:
    session_id = await world.engine.create(calling("c1"))
    running = UpdateToolCallRequest(session_id=session_id, call_id="c1", status=TOOL_CALL_STATUS_RUNNING)
    await _is_replayed(world, running)
    ended = CompleteToolCallRequest(
        session_id=session_id, call_id="c1", status=TOOL_CALL_STATUS_SUCCEEDED, result_json="1"
    )
    await _is_replayed(world, ended)
    checkpoint = Checkpoint(checkpoint_id="1", format="f", data=b"d")
    await _is_replayed(world, PutCheckpointRequest(session_id=session_id, checkpoint=checkpoint))


@CATEGORY.promise("So do a run's start, its cancellation and its end.")
async def changes_of_runs(world: World) -> None:
    session_id = await world.engine.create()
    run = (await _is_replayed(world, StartRunRequest(session_id=session_id))).run
    await _is_replayed(world, CancelRunRequest(session_id=session_id, run_id=run.run_id))
    finish = FinishRunRequest(session_id=session_id, fence=fence(run), status=RUN_STATUS_SUCCEEDED)
    await _is_replayed(world, finish)


@CATEGORY.promise("So do close, restore, delete, undelete and fork.")
async def changes_of_life(world: World) -> None:
    session_id = await world.engine.create("a")
    fork = (await _is_replayed(world, ForkSessionRequest(session_id=session_id))).session.session_id
    same(await world.engine.texts(fork), ["a"], "the messages of the fork")
    for request in (
        CloseSessionRequest(session_id=session_id),
        RestoreSessionRequest(session_id=session_id),
        DeleteSessionRequest(session_id=session_id),
        UndeleteSessionRequest(session_id=session_id),
    ):
        await _is_replayed(world, request)


@CATEGORY.promise("A repeated creation without an id finds the session that it made.")
async def a_creation_without_an_id(world: World) -> None:
    request = CreateSessionRequest(user_id=world.user_id, title="t")
    again = await _is_replayed(world, request)
    holds(again.session.session_id.startswith("sess_"), f"the id is {again.session.session_id}")
    other = CreateSessionRequest(user_id=world.neighbour_id, title="t", request_id=request.request_id)
    made = await world.engine.send(other)
    holds(made.session.session_id != again.session.session_id, "another user's creation found this one's session")


@CATEGORY.promise(
    "For a caller's own id the id is the scope: the same content is a replay, other content is SESSION_EXISTS."
)
async def a_creation_with_an_id(world: World) -> None:
    session_id = world.fresh("s")
    made = await world.engine(CreateSessionRequest(session_id=session_id, title="t"))
    again = await world.engine(CreateSessionRequest(session_id=session_id, title="t"))
    holds(again.receipt.replayed, "the same content under another request_id was no replay")
    same(again.receipt.version, made.receipt.version, "the version")
    await refused(world.engine(CreateSessionRequest(session_id=session_id, title="u")), "SESSION_EXISTS")
    same((await world.engine.get(session_id)).title, "t", "the title")


@CATEGORY.promise(
    "The same request_id with other content is REQUEST_ID_REUSED: nothing is stored, nothing of the first revealed."
)
async def other_content(world: World) -> None:
    engine, request_id = world.engine, world.fresh("r")
    session_id = await engine.create()
    await engine.append(session_id, "the first secret", request_id=request_id)
    refusal = await refused(engine.append(session_id, "b", request_id=request_id), "REQUEST_ID_REUSED")
    holds(b"secret" not in refusal.details, "the refusal reveals the first content")
    same(await engine.texts(session_id), ["the first secret"], "the messages")


@CATEGORY.promise("So it is on another method.")
async def another_method(world: World) -> None:
    engine, request_id = world.engine, world.fresh("r")
    session_id = await engine.create()
    await engine.append(session_id, "a", request_id=request_id)
    change = UpdateMemoryRequest(session_id=session_id, request_id=request_id, change=patch('{"goal":"g"}'))
    await refused(engine(change), "REQUEST_ID_REUSED")
    await refused(engine(CloseSessionRequest(session_id=session_id, request_id=request_id)), "REQUEST_ID_REUSED")
    same((await engine.get(session_id)).version, 2, "the version")


@CATEGORY.promise("A replay is found before the state: a success stays one when the session was closed meanwhile.")
async def before_the_state(world: World) -> None:
    engine, request_id = world.engine, world.fresh("r")
    session_id = await engine.create()
    first = await engine.append(session_id, "a", request_id=request_id)
    await engine(CloseSessionRequest(session_id=session_id))
    again = await engine.append(session_id, "a", request_id=request_id)
    same((again.replayed, again.version), (True, first.version), "replayed and version")
    await refused(engine.append(session_id, "a"), "SESSION_CLOSED")


@CATEGORY.promise("A replay is found before the versions, and whatever version the repeat expects.")
async def before_the_versions(world: World) -> None:
    engine, request_id = world.engine, world.fresh("r")
    session_id = await engine.create()
    first = await engine.append(session_id, "a", request_id=request_id, expected_version=1)
    await engine.append(session_id, "b")
    for expected in (1, 3, 99):
        again = await engine.append(session_id, "a", request_id=request_id, expected_version=expected)
        same((again.replayed, again.version), (True, first.version), f"replayed and version, expecting {expected}")
    same(await engine.texts(session_id), ["a", "b"], "the messages")


@CATEGORY.promise("A replay is found before the fence: a success stays one when somebody else took the run over.")
async def before_the_fence(world: World) -> None:
    engine, request_id = world.engine, world.fresh("r")
    session_id = await engine.create()
    run = await engine.run(session_id)
    first = await engine.append(session_id, "a", request_id=request_id, fence=fence(run))
    await engine(CancelRunRequest(session_id=session_id, run_id=run.run_id, now=True))
    again = await engine.append(session_id, "a", request_id=request_id, fence=fence(run))
    same((again.replayed, again.version), (True, first.version), "replayed and version")


@CATEGORY.promise("The same change sent many times at once is made once, and all get its receipt.")
async def at_once(world: World) -> None:
    engine, request_id = world.engine, world.fresh("r")
    session_id = await engine.create()
    receipts = await asyncio.gather(*(engine.append(session_id, "a", request_id=request_id) for _ in range(AT_ONCE)))
    same({receipt.version for receipt in receipts}, {2}, "the versions")
    same(sum(not receipt.replayed for receipt in receipts), 1, "how many are no replay")
    same(await engine.texts(session_id), ["a"], "the messages")


@CATEGORY.promise("A refused attempt burns no request_id.")
async def refusals_burn_nothing(world: World) -> None:
    engine, request_id = world.engine, world.fresh("r")
    session_id = await engine.create()
    await refused(engine.append(session_id, "a", request_id=request_id, expected_version=5), "VERSION_CONFLICT")
    receipt = await engine.append(session_id, "b", request_id=request_id)
    same((receipt.replayed, receipt.version), (False, 2), "replayed and version")


@CATEGORY.promise("request_ids are a session's own: on another session the same one is a new change.")
async def another_session(world: World) -> None:
    engine, request_id = world.engine, world.fresh("r")
    one, other = await engine.create(), await engine.create()
    await engine.append(one, "a", request_id=request_id)
    receipt = await engine.append(other, "b", request_id=request_id)
    holds(not receipt.replayed, "another session's request_id was taken for this one's")
    same(await engine.texts(other), ["b"], "the messages")


@CATEGORY.promise("What comes with a replayed receipt is as of the first answer.")
async def as_of_the_first_answer(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()

    def titled(title: str, request_id: str) -> Awaitable[Any]:
        session = Session(session_id=session_id, title=title)
        mask = FieldMask(paths=["title"])
        return engine(UpdateSessionRequest(session=session, update_mask=mask, request_id=request_id))

    first = world.fresh("r")
    await titled("first", first)
    await titled("second", world.fresh("r"))
    again = await titled("first", first)
    same((again.session.title, again.session.version), ("first", 2), "the session of the replay")
    same((await engine.get(session_id)).title, "second", "the title now")


@CATEGORY.promise("A change needs a request_id of 1 to 128 characters, and none that begins as the server's own do.")
async def request_ids_are_checked(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    longest = world.fresh("r").ljust(world.limits.id_characters_max, "x")

    def append(request_id: str) -> Awaitable[Any]:
        return engine.send(AppendRequest(session_id=session_id, request_id=request_id, messages=[said("a")]))

    for request_id in ("", longest + "x", "server:mine"):
        await refused(append(request_id), "INVALID_FIELD", field="request_id")
    await append(longest)


@CATEGORY.promise("Text is never used to tell duplicates: a user may say the same thing twice.")
async def text_is_no_duplicate(world: World) -> None:
    engine = world.engine
    session_id = await engine.create("yes", "yes")
    await engine.append(session_id, "yes")
    await engine.append(session_id, "yes")
    same(await engine.texts(session_id), ["yes"] * 4, "the messages")


@CATEGORY.promise("A commit names its request by the first 16 bytes of the SHA-256 of its request_id.")
async def commits_name_their_request(world: World) -> None:
    engine, request_id = world.engine, world.fresh("r")
    session_id = await engine.create()
    await engine.append(session_id, "a", request_id=request_id)
    commit = (await engine.commits(session_id, after_version=1))[0]
    same(commit.request_id_hash, hashlib.sha256(request_id.encode()).digest()[:16], "request_id_hash")
