"""A stream is ordered, unique, reliable, atomic, resumable and bookmarkable."""

import asyncio
from typing import Any

from google.protobuf.duration_pb2 import Duration

from lockstitch.v1.message_pb2 import ROLE_ASSISTANT
from lockstitch.v1.session_service_pb2 import (
    CloseSessionRequest,
    DeleteSessionRequest,
    ForkSessionRequest,
    RestoreSessionRequest,
    StreamDraftRequest,
    UpdateMemoryRequest,
)
from lockstitch_conformance.contents import answered, calling, patch
from lockstitch_conformance.refusals import refused
from lockstitch_conformance.stream import reached
from lockstitch_conformance.suite import Category, holds, same
from lockstitch_conformance.world import World

CATEGORY = Category("subscriptions", "a stream is ordered, unique, reliable, atomic, resumable, bookmarkable")
COMMITS = 12


async def _written(world: World, count: int = COMMITS) -> str:
    """Make a session of so many commits."""
    session_id = await world.engine.create()
    for number in range(2, count + 1):
        await world.engine.append(session_id, f"{number}a", f"{number}b")
    return session_id


@CATEGORY.promise("A stream begins by `opened`, with the store's epoch and the session's version.")
async def opened(world: World) -> None:
    session_id = await _written(world, 3)
    async with world.engine.subscribe(session_id) as stream:
        frame = await stream.frame()
        same(frame.WhichOneof("frame"), "opened", "the first frame")
        same((frame.opened.version, frame.opened.store_epoch), (3, world.info.store_epoch), "version and epoch")


@CATEGORY.promise("Catching up gives every commit behind the cursor once, in order, and then says so.")
async def caught_up(world: World) -> None:
    session_id = await _written(world)
    async with world.engine.subscribe(session_id) as stream:
        frame = await stream.until(lambda frame: frame.WhichOneof("frame") == "caught_up")
        holds(frame.caught_up.version >= COMMITS, f"caught up at {frame.caught_up.version}")
        same(stream.versions, list(range(1, COMMITS + 1)), "the versions")


@CATEGORY.promise("Resumed behind any version a stream goes on with the next, and gives the same commits.")
async def resumed(world: World) -> None:
    session_id = await _written(world)
    async with world.engine.subscribe(session_id) as stream:
        whole = await stream.up_to(COMMITS)
    for after in (1, COMMITS // 2, COMMITS - 1, COMMITS):
        async with world.engine.subscribe(session_id, after, store_epoch=world.info.store_epoch) as stream:
            await stream.until(lambda frame: frame.WhichOneof("frame") == "caught_up")
            same(stream.commits, whole[after:], f"the commits behind {after}")


@CATEGORY.promise("What is committed later comes as it is made, once each and in order.")
async def live(world: World) -> None:
    session_id = await _written(world, 2)
    async with world.engine.subscribe(session_id, 2) as stream:
        await stream.until(lambda frame: frame.WhichOneof("frame") == "caught_up")
        for number in range(3, COMMITS):
            await world.engine.append(session_id, str(number))
            same((await stream.commit()).version, number, "the version of a commit made just now")
        stream.follows_from(2)


@CATEGORY.promise("Between catching up and live nothing is lost and nothing doubled, however fast others write.")
async def without_a_seam(world: World) -> None:
    engine = world.engine
    session_id = await _written(world, 3)

    async def write(writer: int) -> None:
        for number in range(8):
            await engine.append(session_id, f"{writer}.{number}")

    async def read(after: int) -> Any:
        async with engine.subscribe(session_id, after) as stream:
            await stream.up_to(3 + 4 * 8)
            stream.follows_from(after)
            return stream.commits

    *streams, _ = await asyncio.gather(*(read(after) for after in (0, 1, 3)), asyncio.gather(*map(write, range(4))))
    for after, commits in zip((1, 3), streams[1:], strict=True):
        same(commits, streams[0][after:], f"the commits behind {after}")


@CATEGORY.promise("A commit is never split, and has all that its change did.")
async def atomic(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    receipt = await engine.append(session_id, "a", "b", calling("c1"), memory_change=patch('{"goal":"g"}'))
    async with engine.subscribe(session_id, 1) as stream:
        commit = await stream.commit()
        same((commit.version, len(commit.messages)), (2, 3), "version and number of messages")
        same([message.seq for message in commit.messages], list(range(1, 4)), "the seqs")
        same([call.tool_call_id for call in commit.tool_calls], list(receipt.tool_call_ids), "the tool calls")
        same(commit.memory, patch('{"goal":"g"}'), "the change of memory")


@CATEGORY.promise("The stream and the log have the same commits.")
async def the_same_as_the_log(world: World) -> None:
    engine = world.engine
    session_id = await _written(world, 4)
    await engine(UpdateMemoryRequest(session_id=session_id, change=patch('{"goal":"g"}')))
    await engine(CloseSessionRequest(session_id=session_id))
    async with engine.subscribe(session_id) as stream:
        same(await stream.up_to(6), await engine.commits(session_id), "the commits")


@CATEGORY.promise("After a heartbeat at a version nothing up to it follows, and heartbeats never go back.")
async def bookmarks(world: World) -> None:
    engine = world.engine
    session_id = await _written(world, 3)
    async with engine.subscribe(session_id, heartbeat_interval=Duration(seconds=1)) as stream:
        for number in range(3):
            frame = await stream.until(lambda frame: frame.WhichOneof("frame") == "heartbeat")
            same(frame.heartbeat.version, 3 + number, "a heartbeat of a session at rest")
            await engine.append(session_id, str(number))
            await stream.commit()
        floor = 0
        for frame in stream.frames:
            kind = frame.WhichOneof("frame")
            holds(kind != "commit" or reached(frame) > floor, f"commit {reached(frame)} came behind {floor}")
            holds(kind == "opened" or reached(frame) >= floor, f"{kind} at {reached(frame)} came behind {floor}")
            floor = max(floor, reached(frame))


@CATEGORY.promise("A cursor ahead of the session is CURSOR_AHEAD: never a silent wait.")
async def ahead(world: World) -> None:
    session_id = await _written(world, 2)
    async with world.engine.subscribe(session_id, 3) as stream:
        await stream.refused("CURSOR_AHEAD", current_version=2)


@CATEGORY.promise("Another store's epoch is STORE_RESTORED.")
async def another_epoch(world: World) -> None:
    session_id = await _written(world, 2)
    async with world.engine.subscribe(session_id, 1, store_epoch="another") as stream:
        await stream.refused("STORE_RESTORED")


@CATEGORY.promise("A deleted session's stream gives that commit, then ends as SESSION_NOT_FOUND.")
async def deleted(world: World) -> None:
    engine = world.engine
    session_id = await _written(world, 2)
    async with engine.subscribe(session_id, 2) as stream:
        await stream.until(lambda frame: frame.WhichOneof("frame") == "caught_up")
        await engine(DeleteSessionRequest(session_id=session_id))
        same((await stream.commit()).version, 3, "the version of the deletion")
        await stream.refused("SESSION_NOT_FOUND")


@CATEGORY.promise("A closed session's stream waits, and goes on when it is restored.")
async def closed(world: World) -> None:
    engine = world.engine
    session_id = await _written(world, 2)
    async with engine.subscribe(session_id, 2) as stream:
        await engine(CloseSessionRequest(session_id=session_id))
        await engine(RestoreSessionRequest(session_id=session_id))
        await engine.append(session_id, "a")
        await stream.up_to(5)
        stream.follows_from(2)


@CATEGORY.promise("With roles only commits that stored messages of these roles are given, with these messages alone.")
async def narrowed_to_roles(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    await engine.append(session_id, "a", answered("b"))
    await engine.append(session_id, "c")
    await engine.append(session_id, answered("d"))
    async with engine.subscribe(session_id, roles=[ROLE_ASSISTANT]) as stream:
        await stream.up_to(4)
        found = [(commit.version, commit.messages[0].parts[0].text) for commit in stream.commits]
        same(found, [(2, "b"), (4, "d")], "the commits")
        same([len(commit.messages) for commit in stream.commits], [1, 1], "the number of their messages")


@CATEGORY.promise("Readers of one session all get all of it; one that leaves disturbs no other.")
async def many_readers(world: World) -> None:
    engine = world.engine
    session_id = await _written(world, 3)

    async def read() -> Any:
        async with engine.subscribe(session_id) as stream:
            await stream.up_to(8)
            stream.follows_from(0)
            return stream.commits

    async def leave_and_write() -> None:
        async with engine.subscribe(session_id) as leaving:
            await leaving.frame()
        for number in range(5):
            await engine.append(session_id, str(number))

    _, first, *others = await asyncio.gather(leave_and_write(), *(read() for _ in range(4)))
    for other in others:
        same(other, first, "what another reader got")


@CATEGORY.promise("A fork's stream begins with what it was made of, once, and goes on with commits.")
async def of_a_fork(world: World) -> None:
    engine = world.engine
    source = await _written(world, 3)
    fork = (await engine(ForkSessionRequest(session_id=source))).session.session_id
    await engine.append(fork, "a")
    async with engine.subscribe(fork) as stream:
        first, second = await stream.up_to(2)
        same((first.base.version, first.base.last_seq), (1, 4), "version and last_seq of the base")
        forked_from = first.base.session.forked_from
        same((forked_from.session_id, forked_from.version), (source, 3), "forked_from of the base")
        same(second.HasField("base"), False, "whether the next commit has a base")


@CATEGORY.promise("A draft's text is shown while it is written, and closed by the commit of the same request_id.")
async def drafts(world: World) -> None:
    engine, draft_id = world.engine, world.fresh("d")
    session_id = await engine.create()
    head = StreamDraftRequest(request_id=draft_id, session_id=session_id, message=answered(), text="He")
    async with engine.subscribe(session_id, 1) as stream:
        await stream.until(lambda frame: frame.WhichOneof("frame") == "caught_up")
        answer = await engine.draft(head, StreamDraftRequest(offset=2, text="llo"), StreamDraftRequest(last=True))
        commit = await stream.commit()
        text = ""
        for frame in stream.frames:
            if frame.WhichOneof("frame") == "draft":
                same((frame.draft.draft_id, frame.draft.offset), (draft_id, len(text)), "id and offset of a draft")
                text += frame.draft.text
        holds("Hello".startswith(text), f"the draft showed {text!r}")
    same((commit.version, answer.receipt.version), (2, 2), "the versions")
    same(commit.messages[0].parts[0].text, "Hello", "the text")


@CATEGORY.promise("A draft that is sent again gives the same receipt; a gap in it is CURSOR_AHEAD and stores nothing.")
async def drafts_again(world: World) -> None:
    engine, draft_id = world.engine, world.fresh("d")
    session_id = await engine.create()
    head = StreamDraftRequest(request_id=draft_id, session_id=session_id, message=answered(), text="Hello", last=True)
    first, second = await engine.draft(head), await engine.draft(head)
    same((second.receipt.replayed, second.receipt.version), (True, first.receipt.version), "replayed and version")
    gap = StreamDraftRequest(request_id=world.fresh("d"), session_id=session_id, message=answered(), offset=3, text="x")
    await refused(engine.draft(gap), "CURSOR_AHEAD")
    same(await engine.texts(session_id), ["Hello"], "the messages")
