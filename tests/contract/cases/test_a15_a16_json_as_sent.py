"""Cases A15 and A16: numbers keep their digits and objects the order of their keys, in every place and every read."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from factories import answered, called, held, replaced
from lockstitch_server.server_process import ServerProcess
from support.databases import Database
from support.rpc import As, Create, Rpc

# A15
NUMBERS = '{"order":7203685477580123457,"neg":-9007199254740993,"n":3,"f":0.1,"s":"7203685477580123457"}'
# A16
ORDER = '{"zebra":1,"alpha":2,"nested":{"z":1,"a":2},"cache":{"type":"x","ttl":5}}'
SIBLINGS = [
    "1e3",
    "[1.0,1,-0.0,-0,1E+2,1e-07,0.10]",
    "123456789012345678901234567890.123456789012345678901234567890",
    "1e999",
    "-1e-999",
    '{"a":1,"a":2,"b":3,"a":4}',
    '{"a":{"x":1,"x":{"y":2}},"a":[]}',
    '"\\u0000\\u001f\\u007f"',
    '"\\/\\b\\f\\n\\r\\t\\"\\\\"',
    '"\U0001f600 \\ud83d\\ude00 é e\u0301"',
    ' { "blanks" :\t[ 1 ,\r\n 2 ] } ',
    "null",
    "false",
    '""',
    "[]",
    "{}",
    '{"":{"":null}}',
]


async def _stored(engine: Rpc, create: Create, text: str) -> str:
    session_id = await create(metadata_json=text, messages=[called("c1", arguments=text)])
    message = held(json=text)
    message.metadata_json = text
    await engine.Append(session_id=session_id, messages=[message, answered("c1", text)])
    await engine.Append(session_id=session_id, messages=[called("c2", arguments=text)])
    await engine.CompleteToolCall(session_id=session_id, call_id="c2", result_json=text)
    own = {
        "call_id": "c3",
        "name": "n",
        "arguments_json": text,
        "result_json": text,
        "status": "TOOL_CALL_STATUS_FAILED",
    }
    await engine.Append(session_id=session_id, tool_calls=[own])
    await engine.UpdateMemory(session_id=session_id, change=replaced(extra_json='{"k":' + text + "}"))
    return session_id


def _in_messages(messages: Any) -> list[str]:
    asked, told, first_result, asked_again, second_result = messages
    return [
        asked.parts[0].tool_call.arguments_json,
        told.parts[0].json,
        told.metadata_json,
        first_result.parts[0].tool_result.json,
        asked_again.parts[0].tool_call.arguments_json,
        second_result.parts[0].tool_result.json,
    ]


async def _read(reader: Rpc, session_id: str) -> list[str]:
    """Give the text from every place of every read."""
    got = await reader.GetSession(session_id=session_id, recent_messages=10, include_memory=True)
    context = await reader.GetContext(session_id=session_id)
    listed = await reader.ListMessages(session_id=session_id)
    memory = await reader.GetMemory(session_id=session_id)
    calls = (await reader.ListToolCalls(session_id=session_id)).tool_calls
    commits = (await reader.ListCommits(session_id=session_id)).commits
    (of_list,) = (await reader.ListSessions()).sessions
    own = commits[4].tool_calls[0]
    texts = [
        *_in_messages(got.messages),
        *_in_messages(sorted(context.messages, key=lambda message: message.seq)),
        *_in_messages(listed.messages),
        *_in_messages([message for commit in commits for message in commit.messages]),
        *(text for call in calls for text in (call.arguments_json, call.result_json)),
        *(text for call in context.recent_tool_calls for text in (call.arguments_json, call.result_json)),
        *(own.arguments_json, own.result_json),
        *(session.metadata_json for session in (got.session, context.session, of_list, commits[0].session)),
    ]
    objects = [got.memory, context.memory, memory.memory, commits[5].memory.replace]
    return texts + [_member(extra.extra_json) for extra in objects]


def _member(extra_json: str) -> str:
    assert extra_json.startswith('{"k":')
    return extra_json.removeprefix('{"k":').removesuffix("}")


@pytest.mark.parametrize("text", [NUMBERS, ORDER, *SIBLINGS])
async def test_json_comes_back_byte_for_byte_from_everywhere(engine: Rpc, create: Create, text: str) -> None:
    texts = await _read(engine, await _stored(engine, create, text))
    memories = 4  # A member's value is kept byte for byte; blanks around it are the object's.
    assert set(texts[:-memories]) == {text}
    assert {each.strip() for each in texts[-memories:]} == {text.strip()}


async def test_exact_integers_are_exact_after_parsing(engine: Rpc, create: Create) -> None:
    for text in await _read(engine, await _stored(engine, create, NUMBERS)):
        value = json.loads(text)
        assert (value["order"], value["neg"], value["n"]) == (7203685477580123457, -9007199254740993, 3)
        assert isinstance(value["n"], int)


async def test_another_server_reads_the_same_bytes(
    call_as: As, engine: Rpc, create: Create, shared_database: Database, start_server: Callable[..., ServerProcess]
) -> None:
    session_id = await _stored(engine, create, ORDER)
    assert set(await _read(call_as("e", "engine", to=start_server(shared_database)), session_id)) == {ORDER}


async def test_digests_tell_the_same_call_by_content_and_by_the_text_of_numbers(engine: Rpc, create: Create) -> None:
    same = ['{"a":1,"b":{"c":[1,2]}}', ' { "b" : {"c":[1, 2]},\n"a":1 } ', '{"\\u0061":1,"b":{"c":[1,2]}}']
    other = ['{"a":1.0,"b":{"c":[1,2]}}', '{"a":1,"b":{"c":[2,1]}}', '{"a":"1","b":{"c":[1,2]}}', '{"a":[],"b":{}}']
    session_id = await create()
    for number, arguments in enumerate(same + other):
        await engine.Append(session_id=session_id, messages=[called(f"c{number}", arguments=arguments)])
    calls = (await engine.ListToolCalls(session_id=session_id)).tool_calls
    digests = [call.arguments_digest for call in calls]
    assert len(set(digests[:3])) == 1
    assert len(set(digests)) == 1 + len(other)
    found = await engine.ListToolCalls(session_id=session_id, name="book", arguments_digest=digests[0])
    assert [call.call_id for call in found.tool_calls] == ["c0", "c1", "c2"]
