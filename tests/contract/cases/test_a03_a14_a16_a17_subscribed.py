"""Cases A03, A14, A16 and A17: what a subscriber sees of them."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack

import grpc
import pytest

from factories import ASSISTANT, TOOL, answered, called, said
from lockstitch.v1.session_service_pb2 import AppendRequest
from lockstitch_server.server_process import ServerProcess
from support.databases import Database
from support.rpc import refusal
from support.stage import Stage
from support.streams import Reader

AS_SENT = '{"zebra":1,"alpha":2,"nested":{"z":1,"a":2},"cache":{"type":"x","ttl":5}}'
LARGE = 900_000
CONTENT_BYTES_MAX = 3 * 1024 * 1024


@pytest.fixture
async def stage(shared_servers: tuple[ServerProcess, ServerProcess]) -> AsyncIterator[Stage]:
    async with AsyncExitStack() as undo:
        yield Stage(shared_servers, undo)


async def subscribers(stage: Stage, session_id: str) -> list[Reader]:
    """One at the server that writes, and one at the other."""
    readers = [await stage.follow(session_id, targets=[server.target]) for server in stage.servers]
    for reader in readers:
        await reader.caught_up()
    return readers


async def test_a03_a_subscriber_sees_a_retried_request_once_across_a_kill(
    stage: Stage, shared_database: Database, start_server: Callable[..., ServerProcess]
) -> None:
    doomed = start_server(shared_database)
    session_id = await stage.session()
    readers = await subscribers(stage, session_id)
    readers.append(await stage.follow(session_id, targets=[doomed.target, stage.servers[0].target]))
    paying = AppendRequest(
        session_id=session_id, request_id="r-77", expected_version=1, messages=[said("pay invoice 12")]
    )
    writer = stage.rpc(doomed.target)
    await writer.send(paying)
    await writer.send(paying)
    await writer.Append(session_id=session_id, request_id="r-78", expected_version=2, messages=[said("thanks")])
    await writer.send(paying)
    doomed.kill()
    await stage.rpc(start_server(shared_database).target).send(paying)
    # What comes next shows that nothing came between.
    await stage.rpc().Append(session_id=session_id, messages=[said("end")])
    for reader in readers:
        await reader.reached(4)
        assert (reader.versions, reader.texts) == ([1, 2, 3, 4], ["pay invoice 12", "thanks", "end"])


async def test_a14_a_lone_surrogate_stores_nothing_and_spoils_no_stream(stage: Stage) -> None:
    session_id, rpc = await stage.session(messages=[called("c1", "c2")]), stage.rpc()
    readers = await subscribers(stage, session_id)
    batch = [answered("c1", '{"out":"caf\\udc88"}'), answered("c2", '{"ok":"\\ud83d\\ude00"}')]
    refused = await refusal(rpc.Append(session_id=session_id, messages=batch))
    assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD")
    assert refused.field == "messages[0].parts[0].tool_result.json"
    await rpc.Append(session_id=session_id, messages=batch[1:])
    for reader in (*readers, *await subscribers(stage, session_id)):
        await reader.reached(2)
        assert (reader.versions, len(reader.streams)) == ([1, 2], 1)
        (result,) = reader.commits[-1].messages
        assert result.parts[0].tool_result.json == '{"ok":"\\ud83d\\ude00"}'


async def test_a16_a_stream_gives_keys_in_the_order_in_which_they_were_sent(stage: Stage) -> None:
    session_id, rpc = await stage.session(), stage.rpc()
    readers = await subscribers(stage, session_id)
    await rpc.Append(session_id=session_id, messages=[called("c1", arguments=AS_SENT), called("c2")])
    await rpc.Append(session_id=session_id, messages=[answered("c1", AS_SENT)])
    await rpc.CompleteToolCall(session_id=session_id, call_id="c2", result_json=AS_SENT)
    await rpc.Append(session_id=session_id, messages=[said("so", metadata_json=AS_SENT)])
    for reader in (*readers, *await subscribers(stage, session_id)):
        await reader.reached(5)
        messages = [message for commit in reader.commits for message in commit.messages]
        assert [message.role for message in messages[:4]] == [ASSISTANT, ASSISTANT, TOOL, TOOL]
        assert messages[0].parts[0].tool_call.arguments_json == AS_SENT
        assert [message.parts[0].tool_result.json for message in messages[2:4]] == [AS_SENT, AS_SENT]
        assert messages[4].metadata_json == AS_SENT


async def test_a17_large_messages_come_whole_to_a_default_client(stage: Stage) -> None:
    session_id, rpc = await stage.session(), stage.rpc()
    readers = await subscribers(stage, session_id)
    texts = [str(number) * LARGE for number in range(10)]
    for text in texts:
        await rpc.Append(session_id=session_id, messages=[said(text)])
    refused = await refusal(rpc.Append(session_id=session_id, messages=[said("x" * 5_000_000)]))
    assert refused.reason == "MESSAGE_TOO_LARGE"
    texts += ["x" * 10, "y" * CONTENT_BYTES_MAX]
    for text in texts[-2:]:
        await rpc.Append(session_id=session_id, messages=[said(text)])
    for reader in (*readers, *await subscribers(stage, session_id)):
        await reader.reached(13)
        assert (reader.texts == texts, reader.versions) == (True, list(range(1, 14)))
