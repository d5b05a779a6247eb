"""Text is seen while it is generated: on every server, from its beginning, and never behind its commit."""

import asyncio
from typing import Any

from factories import ASSISTANT, TOOL, USER, fresh, texts_of
from support.drafts import Drafting, drafts_of, hash_of
from support.guarantees import check_guarantees
from support.journal import Journal, Said
from support.proxy import proxy_to, to_tcp
from support.sizes import MIB
from support.stage import MakeStage, Stage
from support.streams import Reader

WIDE = "\U0001f600"  # four bytes a character
SMALL_WINDOW = (("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 64 * 1024))


def drafting(stage: Stage, session_id: str, *, server: int = 0, **fields: Any) -> Drafting:
    """Begin to write on one of the servers."""
    return Drafting(stage.caller(stage.servers[server].target), session_id, **fields)


async def shown(reader: Reader, draft_id: str, text: str) -> None:
    """Wait until a reader was given a draft as far as a text."""
    await reader.until(lambda: drafts_of(reader.stream).get(draft_id) == text, f"{draft_id} as far as {text[-20:]!r}")


async def followed(stage: Stage, session_id: str, **asked: Any) -> list[Reader]:
    """A reader at each server, in the present."""
    readers = [await stage.follow(session_id, targets=[server.target], **asked) for server in stage.servers]
    for reader in readers:
        await reader.caught_up()
    return readers


async def test_a_draft_is_seen_on_every_server_while_it_is_written(stage: Stage) -> None:
    session_id = await stage.session()
    readers = await followed(stage, session_id)
    for writes_on in (0, 1):
        draft = drafting(stage, session_id, server=writes_on)
        text = ""
        for word in ("It ", "is ", f"{WIDE} ", "done"):
            await draft.say(word)
            text += word
            for reader in readers:
                await shown(reader, draft.draft_id, text)
        receipt = await draft.end()
        for reader in readers:
            await reader.reached(receipt.version)
            commit = reader.commits[-1]
            assert commit.request_id_hash == hash_of(draft.draft_id)
            assert texts_of(commit.messages) == [text]
            assert drafts_of(reader.stream)[draft.draft_id] == text
            assert len(reader.streams) == 1


async def test_a_frame_says_whose_text_it_is(stage: Stage) -> None:
    session_id = await stage.session()
    run = (await stage.rpc().StartRun(session_id=session_id, worker="w")).run
    readers = await followed(stage, session_id)
    fence = {"run_id": run.run_id, "fencing_token": run.fencing_token}
    draft = drafting(stage, session_id, fence=fence)
    await draft.say("text")
    for reader in readers:
        await shown(reader, draft.draft_id, "text")
        frame = next(frame.draft for frame in reader.stream.frames if frame.HasField("draft"))
        assert (frame.draft_id, frame.role, frame.run_id) == (draft.draft_id, ASSISTANT, run.run_id)
    await draft.end()


async def test_who_comes_late_is_given_what_was_said_so_far_once_it_stands_in_the_present(stage: Stage) -> None:
    session_id, journal = await stage.session(), Journal()
    await stage.writer(session_id, journal).write(5)
    first, second = drafting(stage, session_id), drafting(stage, session_id, server=1)
    await first.say("one so far")
    await second.say("two so far")
    (witness,) = await followed(Stage(stage.servers[:1], stage.undo), session_id, token=stage.token())
    await shown(witness, first.draft_id, "one so far")
    await shown(witness, second.draft_id, "two so far")
    for server in stage.servers:
        for after_version in (0, 6):
            late = await stage.follow(session_id, targets=[server.target], after_version=after_version)
            await shown(late, first.draft_id, "one so far")
            await shown(late, second.draft_id, "two so far")
    await first.end()
    await second.end()


async def test_drafts_of_other_roles_are_not_shown(stage: Stage) -> None:
    session_id = await stage.session()
    readers = await followed(stage, session_id, roles=[USER, TOOL])
    users = drafting(stage, session_id, message={"role": USER})
    assistants = drafting(stage, session_id)
    await assistants.say("hidden")
    await users.say("shown")
    for reader in readers:
        await shown(reader, users.draft_id, "shown")
    await assistants.end(" still")
    await users.end(" too")
    for reader in readers:
        await reader.reached(3)
        assert set(drafts_of(reader.stream)) == {users.draft_id}
        assert reader.texts == ["shown too"]


async def test_no_text_comes_behind_its_commit(stage: Stage) -> None:
    """Many short drafts, each ended right after its last step, while others write and read."""
    session_id, journal, stop = await stage.session(), Journal(), asyncio.Event()
    readers = await followed(stage, session_id)
    texts: dict[str, str] = {}

    async def write_drafts(server: int) -> None:
        for number in range(12):
            draft = drafting(stage, session_id, server=server)
            words = [f"{number}.{place}{WIDE} " for place in range(4)]
            for word in words:
                await draft.say(word)
                await asyncio.sleep(0.03)  # the pace of a model
            receipt = await draft.end()
            text = texts[draft.draft_id] = "".join(words)
            journal.begin((Said(ASSISTANT, text),))
            journal.acknowledge(receipt.version, receipt.first_seq, (Said(ASSISTANT, text),))

    async def leave_and_come() -> None:
        while not stop.is_set():
            readers[0].leave()
            await asyncio.sleep(0.2)  # how long a stream is followed

    async with asyncio.TaskGroup() as group:
        writing = stage.writer(session_id, journal).write_on(stop)
        others = [group.create_task(other) for other in (writing, leave_and_come())]
        await asyncio.gather(*(write_drafts(server) for server in (0, 1, 0)))
        stop.set()
        await asyncio.gather(*others)
    for reader in readers:
        await reader.reached(journal.last_version)
        for stream in reader.streams:
            for draft_id, text in drafts_of(stream).items():
                assert texts[draft_id].startswith(text)
    assert drafts_of(readers[1].stream), "no text was streamed at all"
    check_guarantees(journal, readers)


async def test_a_lost_draft_is_closed_by_the_servers_commit_and_may_be_begun_anew(make_stage: MakeStage) -> None:
    stage = await make_stage(2, LOCKSTITCH_DRAFT_IDLE="1", LOCKSTITCH_SWEEP_INTERVAL="0.2")
    session_id = await stage.session()
    readers = await followed(stage, session_id)
    draft_id = fresh("draft")
    for life, text in enumerate(("first try", "other text", "third")):
        draft = drafting(stage, session_id, server=life % 2, draft_id=draft_id)
        await draft.say(text)
        for reader in readers:
            await reader.until(lambda reader=reader, text=text: last_draft(reader) == text, text)  # type: ignore[misc]
        draft.leave()
        for reader in readers:
            await reader.reached(2 + life)
            message = reader.commits[-1].messages[0]
            assert (message.incomplete, message.parts[0].text) == (True, text)
            assert reader.commits[-1].principal.subject == "system"


def last_draft(reader: Reader) -> str:
    """The text of what was drafted since the last commit."""
    texts: list[str] = []
    for frame in reader.stream.frames:
        if frame.HasField("commit"):
            texts.clear()
        if frame.HasField("draft"):
            assert frame.draft.offset == len("".join(texts).encode())
            texts.append(frame.draft.text)
    return "".join(texts)


async def test_a_slow_reader_is_given_fewer_and_larger_pieces_and_holds_up_nobody(one_server: Stage) -> None:
    session_id = await one_server.session()
    async with proxy_to(to_tcp(one_server.servers[0].target)) as proxy:
        slow = await one_server.follow(session_id, targets=[proxy.target], options=SMALL_WINDOW)
        quick = await one_server.follow(session_id)
        for reader in (slow, quick):
            await reader.caught_up()
        draft, text = drafting(one_server, session_id), ""

        async def write_more() -> None:
            nonlocal text
            for _ in range(20):
                word = f"{len(text):010}" * 5000
                await draft.say(word)
                text += word
                await shown(quick, draft.draft_id, text)

        proxy.stall()
        await write_more()
        proxy.restore()
        await shown(slow, draft.draft_id, text)
        assert slow.stream.kinds.count("draft") < quick.stream.kinds.count("draft")
        proxy.stall()
        await write_more()
        receipt = await draft.end()
        await quick.reached(receipt.version)
        proxy.restore()
        await slow.reached(receipt.version)
        assert text.startswith(drafts_of(slow.stream)[draft.draft_id])
    assert (len(slow.streams), len(quick.streams)) == (1, 1)
    assert texts_of(slow.commits[-1].messages) == [text]


async def test_a_draft_of_the_largest_size_comes_in_frames_of_a_mebibyte(stage: Stage) -> None:
    session_id = await stage.session()
    draft = drafting(stage, session_id)
    # The pieces' ends fall within characters, which are not cut.
    text = "x" + WIDE * ((3 * MIB - 4096) // 4)
    for place in range(0, len(text), 100_000):
        await draft.say(text[place : place + 100_000])
    for reader in await followed(stage, session_id):
        await shown(reader, draft.draft_id, text)
        assert reader.stream.kinds.count("draft") >= 3
    receipt = await draft.end()
    assert receipt.last_seq == 1
