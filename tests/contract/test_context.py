"""CONTRACT 11: what an engine needs to go on, from one snapshot. Windows are case A11's."""

import asyncio
import json

import pytest

from factories import ASSISTANT, FAILED, TOOL, USER, answered, called, patched, said, texts_of
from lockstitch.v1.message_pb2 import Message, Part
from support.rpc import Create, Rpc
from support.sizes import CONTENT_BYTES_MAX, KIB, fits


async def test_a_context_is_what_the_single_reads_give(engine: Rpc, create: Create) -> None:
    session_id = await create(memory={"goal": "g"}, messages=[said("go"), called("a", "b", "c")], title="t")
    await engine.Append(session_id=session_id, messages=[answered("b"), said("meanwhile")])
    await engine.CompleteToolCall(session_id=session_id, call_id="a", error="broke")
    context = await engine.GetContext(session_id=session_id)
    got = await engine.GetSession(session_id=session_id, include_memory=True, include_open_tool_calls=True)
    calls = (await engine.ListToolCalls(session_id=session_id)).tool_calls
    assert (context.session, context.memory, context.as_of_version) == (got.session, got.memory, got.session.version)
    assert list(context.open_tool_calls) == list(got.open_tool_calls) == [calls[2]]
    assert list(context.recent_tool_calls) == [calls[0], calls[1]]
    assert calls[0].status == FAILED
    assert [message.seq for message in context.messages] == [1, 2, 5, 3, 4]
    assert not context.truncated


async def test_an_empty_session_has_an_empty_context(engine: Rpc, create: Create) -> None:
    context = await engine.GetContext(session_id=await create())
    assert (list(context.messages), list(context.open_tool_calls), list(context.recent_tool_calls)) == ([], [], [])
    assert (context.as_of_version, context.truncated, context.memory.version) == (1, False, 0)


async def test_the_newest_20_ended_calls_are_told(engine: Rpc, create: Create) -> None:
    session_id = await create()
    for start in range(0, 30, 10):
        ids = [f"c{number}" for number in range(start, start + 10)]
        await engine.Append(session_id=session_id, messages=[called(*ids), *(answered(each) for each in ids)])
    context = await engine.GetContext(session_id=session_id)
    assert [call.call_id for call in context.recent_tool_calls] == [f"c{number}" for number in range(10, 30)]


async def test_by_default_200_messages_and_at_most_1000(engine: Rpc, create: Create) -> None:
    session_id = await create()
    for _ in range(11):
        await engine.Append(session_id=session_id, messages=[said("x")] * 100)
    for asked, given in ((0, 200), (1, 1), (999, 999), (2**31 - 1, 1000)):
        context = await engine.GetContext(session_id=session_id, max_messages=asked)
        assert [message.seq for message in context.messages] == list(range(1101 - given, 1101))
        assert context.truncated


@pytest.mark.parametrize("texts", [["x" * 10, "y" * 400, "z" * 37], ["é" * 100, "\U0001f600" * 50, "x"]])
async def test_tokens_are_estimated_by_the_written_rule(engine: Rpc, create: Create, texts: list[str]) -> None:
    session_id = await create(messages=[said(text) for text in texts])
    stored = [Message(parts=[Part(text=text)]).ByteSize() for text in texts]
    estimates = [4 + -(-size // 4) for size in stored]
    for count in range(1, 4):
        enough = sum(estimates[-count:])
        whole = await engine.GetContext(session_id=session_id, max_tokens=enough)
        assert texts_of(whole.messages) == texts[-count:]
        less = await engine.GetContext(session_id=session_id, max_tokens=enough - 1)
        assert texts_of(less.messages) != texts[-count:]


async def test_a_group_that_is_too_large_keeps_its_calls_and_says_what_it_lost(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[said("go"), called("a", "b", arguments='{"n":1}', text="thinking")])
    await engine.CompleteToolCall(session_id=session_id, call_id="a", result_json='"' + "x" * 100_000 + '"')
    await engine.CompleteToolCall(session_id=session_id, call_id="b", result_json="2")
    await engine.Append(session_id=session_id, messages=[said("done")])
    context = await engine.GetContext(session_id=session_id, max_bytes=50_000)
    asked, first, second, done = context.messages[-4:]
    assert [part.tool_call.arguments_json for part in asked.parts] == ['{"n":1}', '{"n":1}']
    assert [first.call_id, second.call_id, done.parts[0].text] == ["a", "b", "done"]
    assert (first.elided_bytes, first.parts[0].tool_result.json) == (100_002, "")
    assert context.truncated
    assert context.ByteSize() < 50_000 * 4


async def test_one_message_too_large_for_the_limit_is_given_without_its_body(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[said("x" * 10_000)])
    (message,) = (await engine.GetContext(session_id=session_id, max_bytes=1000)).messages
    assert (list(message.parts), message.elided_bytes, message.role) == ([], 10_000, USER)


async def test_a_call_with_large_arguments_beside_a_full_memory_is_still_a_call(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[called("c", arguments='"' + "a" * (CONTENT_BYTES_MAX - 2) + '"')])
    await engine.UpdateMemory(session_id=session_id, change=patched('{"k":"' + "v" * (1024 * KIB - 100) + '"}'))
    await engine.Append(session_id=session_id, messages=[answered("c", "1")])
    context = fits(await engine.GetContext(session_id=session_id))
    asked, told = context.messages
    assert (asked.parts[0].tool_call.call_id, asked.parts[0].tool_call.name) == ("c", "book")
    assert asked.elided_bytes == CONTENT_BYTES_MAX
    assert (asked.role, told.role, context.truncated) == (ASSISTANT, TOOL, True)


async def test_a_context_is_one_snapshot_while_others_write(engines: tuple[Rpc, Rpc], create: Create) -> None:
    session_id = await create(memory={"extra_json": '{"n":0}'})
    done = asyncio.Event()

    async def write() -> None:
        for number in range(1, 101):
            await engines[1].Append(
                session_id=session_id, messages=[said(str(number))], memory_change=patched(f'{{"n":{number}}}')
            )
        done.set()

    writing = asyncio.create_task(write())
    seen = set()
    while not done.is_set():
        context = await engines[0].GetContext(session_id=session_id)
        number = json.loads(context.memory.extra_json)["n"]
        assert context.as_of_version == context.session.version == number + 1
        assert len(context.messages) == context.session.message_count == number
        seen.add(number)
    await writing
    assert len(seen) > 5
