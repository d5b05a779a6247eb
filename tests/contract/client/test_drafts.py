"""Drafts through the client: written, lost and found again, committed once."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import pytest

from lockstitch import (
    Client,
    DeadlineExceeded,
    RunFenced,
    SessionClosed,
    SessionHandle,
    VersionConflict,
    assistant,
    call,
    run_end,
    user,
)
from lockstitch.errors import InvalidField
from lockstitch.types import Message, Role, RunStatus, ToolCallStatus
from lockstitch_server.server_process import ServerProcess
from support.proxy import Proxy, proxy_to, to_tcp

PIECES = ["It ", "is ", "4 degrees ", "in Tromsø ", "🏔", " and ", "in Oslo."]
WHOLE = "".join(PIECES)
LONG = timedelta(seconds=60)


@pytest.fixture
async def session(client: Client) -> SessionHandle:
    return await client.create(messages=[user("weather?")])


async def stored(session: SessionHandle) -> list[Message]:
    return [message async for message in session.messages(after_seq=1)]


async def test_a_draft_is_one_message_and_one_commit(session: SessionHandle) -> None:
    async with session.draft(author="writer", message_id="m1", metadata={"k": 1}) as draft:
        for piece in PIECES:
            await draft.write(piece)
        assert draft.text == WHOLE
        assert draft.receipt is None
    (message,) = await stored(session)
    assert [part.text for part in message.parts] == [WHOLE]
    assert (message.message_id, message.author, message.metadata_json) == ("m1", "writer", '{"k":1}')
    assert (message.role, message.incomplete) == (Role.ROLE_ASSISTANT, False)
    assert draft.receipt is not None
    assert (draft.receipt.version, draft.receipt.first_seq, session.version) == (2, 2, 2)
    (_, commit) = [commit async for commit in session.commits()]
    assert commit.request_id_hash == sha256(draft.draft_id.encode()).digest()[:16]


async def test_a_draft_may_end_with_more_than_its_text(session: SessionHandle) -> None:
    async with session.run() as run, run.draft() as draft:
        await draft.write("Let me look")
        whole = assistant("Let me look.", tool_calls=[call("c1", "weather", {"city": "Oslo"})])
        receipt = await draft.finish(message=whole, memory_change={"goal": "weather"}, finish=run_end())
    (message,) = await stored(session)
    assert ([part.WhichOneof("content") for part in message.parts], message.run_id) == (
        ["text", "tool_call"],
        run.run_id,
    )
    assert [entry.status async for entry in session.tool_calls()] == [ToolCallStatus.TOOL_CALL_STATUS_PENDING]
    assert ((await session.memory()).goal, session.memory_version) == ("weather", receipt.version)
    ended = await session.get_run(run.run_id)
    assert (ended.status, ended.ended_version) == (RunStatus.RUN_STATUS_SUCCEEDED, receipt.version)
    with pytest.raises(RuntimeError, match="committed already"):
        await draft.write("more")


async def test_a_draft_that_is_not_written_to_holds_what_it_ends_with(session: SessionHandle) -> None:
    async with session.draft() as draft:
        await draft.finish(message=assistant("At once."))
    assert [message.parts[0].text for message in await stored(session)] == ["At once."]


async def test_a_draft_without_any_text_is_refused(session: SessionHandle) -> None:
    async def draft_nothing() -> None:
        async with session.draft():
            pass

    with pytest.raises(InvalidField):
        await draft_nothing()
    assert await stored(session) == []


async def test_a_body_that_raises_commits_nothing_of_its_own(session: SessionHandle) -> None:
    async def fail() -> None:
        async with session.run() as run, run.draft() as draft:
            await draft.write("It is ")
            await until_stored(session, "It is ")
            _ = 1 / 0

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert await stored(session) == []
    await session.close()  # which stores what was being drafted
    (message,) = await stored(session)
    assert (message.parts[0].text, message.incomplete) == ("It is ", True)


async def until_stored(session: SessionHandle, text: str) -> None:
    """Waits until a late joiner is shown this much of what is being drafted."""
    async with asyncio.timeout(20):
        async for frame in session.frames(after_version=0):
            if frame.HasField("draft"):
                text = text.removeprefix(frame.draft.text)
            if not text:
                return


async def test_a_draft_of_a_fenced_run_is_refused_and_its_text_is_kept(session: SessionHandle, client: Client) -> None:
    elsewhere = client.session(session.session_id)

    async def draft_on() -> None:
        async with session.run() as run, run.draft() as draft:
            await draft.write("It is ")
            await until_stored(session, "It is ")
            async with elsewhere.run(on_busy="interrupt") as successor:
                await successor.append(messages=[assistant("Mine.")])
            await draft.write("4 degrees.")

    with pytest.raises(RunFenced):
        await draft_on()
    kept, taken = await stored(session)
    assert (kept.parts[0].text, kept.incomplete) == ("It is ", True)
    assert taken.parts[0].text == "Mine."


async def test_a_draft_can_not_be_committed_behind_what_it_expects(session: SessionHandle, client: Client) -> None:
    async def draft_on() -> None:
        async with session.draft(expected_version=session.version) as draft:
            await draft.write("It is ")
            await until_stored(session, "It is ")
            await client.session(session.session_id).append(messages=[user("wait")])

    with pytest.raises(VersionConflict):
        await draft_on()


async def test_a_draft_in_a_closed_session_is_refused(session: SessionHandle) -> None:
    async def draft_on() -> None:
        async with session.draft() as draft:
            await draft.write("It is ")

    await session.close()
    with pytest.raises(SessionClosed):
        await draft_on()


def test_drafts_work_from_threads_and_other_loops(server: ServerProcess) -> None:
    client = Client(server.target, token=server.token(tenant="client-tests"))
    session = client.run(client.create())

    async def draft(author: str) -> None:
        async with session.draft(author=author) as draft:
            for piece in PIECES:
                await draft.write(piece)

    client.run(draft("background"))
    for _ in range(2):
        asyncio.run(draft("another loop"))
    messages = list(client.iterate(session.messages()))
    assert [message.parts[0].text for message in messages] == [WHOLE] * 3
    client.run(client.create())
    asyncio.run(client.close())


# --- what a draft survives --------------------------------------------------------------------------------------------


@pytest.fixture
async def network(server: ServerProcess) -> AsyncIterator[Proxy]:
    async with proxy_to(to_tcp(server.target)) as proxy:
        yield proxy


async def test_a_draft_survives_a_network_that_cuts_it_at_every_piece(server: ServerProcess, network: Proxy) -> None:
    async with Client(network.target, token=server.token(tenant="client-tests"), timeout=LONG) as client:
        session = await client.create()
        async with session.draft() as draft:
            for piece in PIECES:
                await draft.write(piece)
                network.cut()
        assert [message.parts[0].text async for message in session.messages()] == [WHOLE]
    assert draft.receipt is not None
    assert draft.receipt.version == 2


async def test_a_draft_ends_once_where_the_reply_is_lost(server: ServerProcess, network: Proxy) -> None:
    token = server.token(tenant="client-tests")
    async with Client(network.target, token=token, timeout=LONG) as client, Client(server.target, token=token) as near:
        session = await client.create()
        async with session.draft(request_id="d1") as draft:
            await draft.write(WHOLE)
            await until_stored(near.session(session.session_id), WHOLE)
            network.stall()
            network.cut(refuse=True)
            finishing = asyncio.create_task(draft.finish())
            # Somebody commits it under its id: to the one who is cut off, his own commit whose reply was lost.
            async with near.session(session.session_id).draft(request_id="d1") as same:
                await same.write(WHOLE)
            network.restore()
            receipt = await finishing
            assert same.receipt is not None
            assert (receipt.version, receipt.replayed, same.receipt.replayed) == (same.receipt.version, True, False)
        assert [message.parts[0].text async for message in session.messages()] == [WHOLE]


async def test_a_draft_outlives_a_network_that_says_nothing(server: ServerProcess, network: Proxy) -> None:
    token = server.token(tenant="client-tests")
    async with Client(network.target, token=token) as client, Client(server.target, token=token) as near:
        session = await client.create()
        async with session.draft(timeout=timedelta(seconds=1)) as draft:
            await draft.write(WHOLE)
            await until_stored(near.session(session.session_id), WHOLE)
            network.stall()
            with pytest.raises(DeadlineExceeded) as silence:
                await draft.finish()
            assert silence.value.request_id == draft.draft_id
            network.restore()
        assert [message.parts[0].text async for message in near.session(session.session_id).messages()] == [WHOLE]


async def test_a_draft_survives_a_killed_server(folder: Path) -> None:
    server = ServerProcess.start(folder / "data")
    target, token = server.target, server.token()
    try:
        async with Client(target, token=token, timeout=LONG) as client:
            session = await client.create()
            async with session.run() as run, run.draft() as draft:
                await draft.write("before, ")
                await until_stored(session, "before, ")
                await asyncio.to_thread(server.kill)
                writing = asyncio.create_task(draft.write("between, "))
                server = await asyncio.to_thread(ServerProcess.start, folder / "data", arguments=["--listen", target])
                await writing
                await draft.write("after")
            (message,) = [message async for message in session.messages()]
            assert (message.parts[0].text, message.incomplete) == ("before, between, after", False)
            assert [commit.version async for commit in session.commits()] == list(range(1, 5))
    finally:
        await asyncio.to_thread(server.stop)
