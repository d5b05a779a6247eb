import asyncio
import json
import logging
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest

from lockstitch import Client, service_config, tool, user
from lockstitch.errors import InvalidField
from lockstitch.types import Commit
from lockstitch.v1.session_service_pb2 import GetSessionRequest
from lockstitch.v1.session_service_pb2_grpc import SessionServiceStub
from lockstitch_server.server_process import ServerProcess


async def test_many_appends_at_once_are_one_commit_each(client: Client) -> None:
    session = await client.create()
    await asyncio.gather(*(session.append(messages=[user(str(number))]) for number in range(64)))
    texts = [message.parts[0].text async for message in session.messages(page_size=10)]
    assert sorted(texts, key=int) == [str(number) for number in range(64)]
    assert [commit.version async for commit in session.commits()] == list(range(1, 66))


# Case A02, steps 1 and 2
async def test_a_hundred_guarded_appends_in_a_row_are_never_stale(client: Client) -> None:
    session = await client.create()
    for number in range(100):
        receipt = await session.append(messages=[user(str(number))], expected_version=session.version)
        assert session.version == receipt.version == number + 2


def test_loops_threads_and_plain_calls_share_a_client(server: ServerProcess, caplog: pytest.LogCaptureFixture) -> None:
    client = Client(server.target, token=server.token(tenant="client-tests"))
    session = client.run(client.create())

    async def append(text: str) -> None:
        await asyncio.gather(*(session.append(messages=[user(f"{text}-{number}")]) for number in range(5)))

    async def entered() -> None:
        async with Client(server.target, token=server.token(tenant="client-tests")) as other:
            mine = other.session(session.session_id)
            with ThreadPoolExecutor(1) as thread:  # blocks this loop, as frameworks do
                thread.submit(other.run, mine.append(messages=[user("blocking")])).result()
            await mine.append(messages=[user("direct")])

    with caplog.at_level(logging.WARNING), ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda number: asyncio.run(append(f"loop {number}")), range(8)))
        list(threads.map(lambda number: client.run(append(f"plain {number}")), range(8)))
        asyncio.run(entered())
    texts = [message.parts[0].text for message in client.iterate(session.messages())]
    assert len(set(texts)) == len(texts) == 82
    asyncio.run(client.close())
    assert caplog.records == []


# Case A14
async def test_a_lone_surrogate_leaves_the_session_usable(client: Client) -> None:
    session = await client.create()
    with pytest.raises(InvalidField, match=r"user message: parts\[0\]\.text"):
        await session.append(messages=[user("caf\udc88")])
    with pytest.raises(InvalidField, match="tool 'c1' message"):
        await session.append(messages=[tool("c1", {"out": "caf\udc88"})])
    receipt = await session.append(messages=[user("café \U0001f600")])
    assert (receipt.version, receipt.last_seq) == (2, 1)


# Case A15, in memory and metadata
async def test_integers_are_exact_everywhere(client: Client) -> None:
    exact = {"order": 7203685477580123457, "neg": -9007199254740993, "n": 3, "f": 0.1}
    session = await client.create(metadata=exact, messages=[user("x", metadata=exact)])
    await session.update_memory(change={"order": exact})
    assert session.info is not None
    (message,) = [message async for message in session.messages()]
    memory = json.loads((await session.memory()).extra_json)
    assert json.loads(session.info.metadata_json) == json.loads(message.metadata_json) == memory["order"] == exact
    assert isinstance(memory["order"]["n"], int)


async def test_the_service_config_suits_a_real_server(server: ServerProcess) -> None:
    options = [("grpc.service_config", service_config.SERVICE_CONFIG)]
    headers = (("authorization", f"Bearer {server.token(tenant='client-tests')}"),)
    async with grpc.aio.insecure_channel(server.target, options=options) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await SessionServiceStub(channel).GetSession(
                GetSessionRequest(session_id="none"), metadata=headers, timeout=9
            )
    assert caught.value.code() == grpc.StatusCode.NOT_FOUND


async def test_commits_tell_who_did_what(client: Client, user_client: Client) -> None:
    session = await user_client.create(messages=[user("hi")])
    await client.session(session.session_id).append(memory_change={"goal": "greet"})
    created, changed = [commit async for commit in session.commits()]
    assert isinstance(created, Commit)
    assert [message.parts[0].text for message in created.messages] == ["hi"]
    assert (created.principal.subject, changed.memory.merge_patch_json) == ("u1", '{"goal":"greet"}')
