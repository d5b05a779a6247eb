"""Two writers never lose an update."""

import asyncio
from collections import Counter
from typing import Any

from google.protobuf.field_mask_pb2 import FieldMask
from grpc import aio

from lockstitch.v1.run_pb2 import RUN_STATUS_SUCCEEDED
from lockstitch.v1.run_service_pb2 import FinishRunRequest
from lockstitch.v1.session_pb2 import Session
from lockstitch.v1.session_service_pb2 import (
    AppendRequest,
    CloseSessionRequest,
    CreateIfMissing,
    CreateSessionRequest,
    DeleteSessionRequest,
    GetContextRequest,
    GetMemoryRequest,
    GetSessionRequest,
    ListMessagesRequest,
    RestoreSessionRequest,
    UndeleteSessionRequest,
    UpdateMemoryRequest,
    UpdateSessionRequest,
)
from lockstitch.v1.working_memory_pb2 import MemoryChange, MemorySet, WorkingMemory
from lockstitch_conformance.contents import fence, patch, said
from lockstitch_conformance.refusals import refused, taken_apart
from lockstitch_conformance.suite import Category, holds, same
from lockstitch_conformance.world import World

CATEGORY = Category("versions", "two writers never lose an update")
WRITERS = 8


@CATEGORY.promise("A session is at version 1 when it was created, with its first messages and memory in that commit.")
async def creation_is_version_one(world: World) -> None:
    request = CreateSessionRequest(
        user_id=world.user_id, messages=[said("a"), said("b")], memory=WorkingMemory(goal="g")
    )
    made = await world.engine(request)
    receipt = made.receipt
    same((receipt.version, receipt.first_seq, receipt.last_seq, receipt.memory_version), (1, 1, 2, 1), "the receipt")
    session = await world.engine.get(made.session.session_id)
    same((session.version, session.last_seq, session.memory_version), (1, 2, 1), "the session")


@CATEGORY.promise("Every kind of change moves the version by exactly one.")
async def each_change_adds_one(world: World) -> None:
    engine, session_id = world.engine, await world.engine.create()
    titled = Session(session_id=session_id, title="t")
    versions = [(await engine.append(session_id, "a", "b")).version]

    async def change(request: Any) -> Any:
        answer = await engine(request)
        versions.append(answer.receipt.version)
        return answer

    await change(UpdateMemoryRequest(session_id=session_id, change=patch('{"goal":"g"}')))
    await change(UpdateSessionRequest(session=titled, update_mask=FieldMask(paths=["title"])))
    run = await engine.run(session_id)
    versions.append(run.started_version)
    await change(FinishRunRequest(session_id=session_id, fence=fence(run), status=RUN_STATUS_SUCCEEDED))
    await change(CloseSessionRequest(session_id=session_id))
    await change(RestoreSessionRequest(session_id=session_id))
    await change(DeleteSessionRequest(session_id=session_id))
    await change(UndeleteSessionRequest(session_id=session_id))
    same(versions, list(range(2, 2 + len(versions))), "the versions")
    same((await engine.get(session_id)).version, versions[-1], "the session's version")


@CATEGORY.promise("Reads do not move the version.")
async def reads_move_nothing(world: World) -> None:
    engine = world.engine
    session_id = await engine.create("a")
    await engine(GetContextRequest(session_id=session_id))
    await engine(GetMemoryRequest(session_id=session_id))
    await engine.messages(session_id)
    await engine.commits(session_id)
    same((await engine.get(session_id)).version, 1, "the version")


@CATEGORY.promise("A success that changes nothing makes no commit.")
async def nothing_changed_is_no_commit(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    change = UpdateMemoryRequest(session_id=session_id, change=patch('{"goal":"g"}'))
    version = (await engine(change)).receipt.version
    same((await engine(change)).receipt.version, version, "the version after an equal memory")
    restored = await engine(RestoreSessionRequest(session_id=session_id))
    same(restored.receipt.version, version, "the version after restoring what is active")
    same(len(await engine.commits(session_id)), version, "the number of commits")


@CATEGORY.promise("A refused change uses up nothing: no version, no seq.")
async def refusals_use_up_nothing(world: World) -> None:
    engine = world.engine
    session_id = await engine.create("a")
    await refused(engine.append(session_id, "b", expected_version=7), "VERSION_CONFLICT")
    await refused(engine.append(session_id, said("c", message_id="msg_mine")), "INVALID_FIELD")
    receipt = await engine.append(session_id, "d")
    same((receipt.version, receipt.first_seq), (2, 2), "version and seq of the next change")
    same(await engine.texts(session_id), ["a", "d"], "the messages")


@CATEGORY.promise(
    "Of any number of writers that expect the same version exactly one wins, and nothing of the others is stored."
)
async def one_of_many_wins(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    attempts = [engine.append(session_id, str(writer), expected_version=1) for writer in range(WRITERS)]
    outcomes = await asyncio.gather(*attempts, return_exceptions=True)
    reasons = Counter(_reason(outcome) for outcome in outcomes)
    same(reasons, {"": 1, "VERSION_CONFLICT": WRITERS - 1}, "how the writers fared")
    won = [str(writer) for writer, outcome in enumerate(outcomes) if not isinstance(outcome, BaseException)]
    same(await engine.texts(session_id), won, "what was stored")


@CATEGORY.promise("Writers that expect nothing lose nothing: every change is stored once, at a version of its own.")
async def many_writers_lose_nothing(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    receipts = await asyncio.gather(*(engine.append(session_id, str(writer)) for writer in range(2 * WRITERS)))
    versions = sorted(receipt.version for receipt in receipts)
    same(versions, list(range(2, 2 + 2 * WRITERS)), "the versions")
    stored = sorted(await engine.texts(session_id), key=int)
    same(stored, [str(writer) for writer in range(2 * WRITERS)], "what was stored")


@CATEGORY.promise("A conflict tells the version that was expected and the current one, memory_version and last_seq.")
async def a_conflict_says_where_it_stands(world: World) -> None:
    engine = world.engine
    session_id = await engine.create("a")
    await engine(UpdateMemoryRequest(session_id=session_id, change=patch('{"goal":"g"}')))
    await engine.append(session_id, "b", "c")
    await refused(
        engine.append(session_id, "d", expected_version=1),
        "VERSION_CONFLICT",
        expected_version=1,
        current_version=3,
        memory_version=2,
        last_seq=3,
    )
    await refused(engine.append(session_id, "d", expected_version=9), "VERSION_CONFLICT", current_version=3)


@CATEGORY.promise("expected_memory_version guards memory alone: somebody's message does not refuse a memory update.")
async def the_memory_has_a_version_of_its_own(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    first = await engine(UpdateMemoryRequest(session_id=session_id, change=patch('{"goal":"a"}')))
    await engine.append(session_id, "in between")
    change = UpdateMemoryRequest(
        session_id=session_id,
        change=MemoryChange(replace=WorkingMemory(goal="b")),
        expected_memory_version=first.memory.version,
    )
    second = await engine(change)
    same(second.receipt.memory_version, second.receipt.version, "the memory's version")
    await refused(engine(change), "VERSION_CONFLICT", memory_version=second.receipt.memory_version)
    same((await engine.memory(session_id)).goal, "b", "the goal")


@CATEGORY.promise(
    "A memory that is computed from an old one needs a guard, in UpdateMemory and in Append; the first needs none."
)
async def computed_memory_needs_a_guard(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    replace = MemoryChange(replace=WorkingMemory(goal="a"))
    part = MemorySet(memory=WorkingMemory(goal="b"), update_mask=FieldMask(paths=["goal"]))
    await engine(UpdateMemoryRequest(session_id=session_id, change=replace))
    for change in (MemoryChange(replace=WorkingMemory(goal="c")), MemoryChange(set=part)):
        update = UpdateMemoryRequest(session_id=session_id, change=change)
        await refused(engine(update), "EXPECTED_VERSION_REQUIRED")
        append = AppendRequest(session_id=session_id, messages=[said("m")], memory_change=change)
        await refused(engine(append), "EXPECTED_VERSION_REQUIRED")
        guarded = UpdateMemoryRequest(session_id=session_id, change=change, expected_version=9)
        await refused(engine(guarded), "VERSION_CONFLICT")
    await engine(UpdateMemoryRequest(session_id=session_id, change=MemoryChange(set=part), force=True))
    same((await engine.memory(session_id)).goal, "b", "the goal that was forced")


@CATEGORY.promise("Labels and metadata need a guard as well; a title does not.")
async def computed_fields_need_a_guard(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    labelled = Session(session_id=session_id, labels={"a": "b"}, title="t", metadata_json="{}")

    def update(*paths: str, **fields: Any) -> Any:
        mask = FieldMask(paths=paths)
        return engine(UpdateSessionRequest(session=labelled, update_mask=mask, **fields))

    await refused(update("labels"), "EXPECTED_VERSION_REQUIRED")
    await refused(update("metadata_json"), "EXPECTED_VERSION_REQUIRED")
    await update("title")
    await refused(update("labels", expected_version=1), "VERSION_CONFLICT")
    await update("labels", expected_version=2)
    same(dict((await engine.get(session_id)).labels), {"a": "b"}, "the labels")


@CATEGORY.promise("Where a version is optional it is compared when it is given.")
async def optional_versions_are_compared(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    for request in (
        CloseSessionRequest(session_id=session_id, expected_version=5),
        DeleteSessionRequest(session_id=session_id, expected_version=5),
        UpdateMemoryRequest(session_id=session_id, expected_version=5, change=patch("{}")),
    ):
        await refused(engine(request), "VERSION_CONFLICT", expected_version=5, current_version=1)


@CATEGORY.promise(
    "Append creates what is missing in its own commit, at version 1; expected_version 0 means that nothing is there."
)
async def append_creates_what_is_missing(world: World) -> None:
    engine, session_id = world.engine, world.fresh("s")
    missing = CreateIfMissing(user_id=world.user_id, agent="a")
    await refused(engine.append(session_id, "a"), "SESSION_NOT_FOUND")
    receipt = await engine.append(session_id, "a", create_if_missing=missing, expected_version=0)
    same((receipt.version, receipt.first_seq), (1, 1), "version and seq")
    again = engine.append(session_id, "b", create_if_missing=missing, expected_version=0)
    await refused(again, "VERSION_CONFLICT", current_version=1)
    same((await engine.append(session_id, "b", create_if_missing=missing)).version, 2, "the next version")


@CATEGORY.promise("Every read says the version that it saw.")
async def reads_say_their_version(world: World) -> None:
    engine = world.engine
    session_id = await engine.create("a")
    await engine.append(session_id, "b")
    same((await engine(GetContextRequest(session_id=session_id))).as_of_version, 2, "GetContext's version")
    same((await engine(ListMessagesRequest(session_id=session_id))).as_of_version, 2, "ListMessages' version")
    same((await engine(GetSessionRequest(session_id=session_id))).session.version, 2, "GetSession's version")


@CATEGORY.promise("A read gives one moment: its messages are those of the version that it says.")
async def a_read_is_one_moment(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()

    async def write() -> None:
        for number in range(10):
            await engine.append(session_id, f"{number}a", f"{number}b")

    async def read() -> None:
        for _ in range(10):
            context = await engine(GetContextRequest(session_id=session_id))
            holds(
                len(context.messages) == 2 * (context.as_of_version - 1) == context.session.last_seq,
                f"{len(context.messages)} messages, last_seq {context.session.last_seq} at {context.as_of_version}",
            )

    await asyncio.gather(write(), read(), read())


def _reason(outcome: object) -> str:
    if isinstance(outcome, aio.AioRpcError):
        return taken_apart(outcome).reason
    if isinstance(outcome, BaseException):
        raise outcome
    return ""
