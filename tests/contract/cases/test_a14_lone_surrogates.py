"""Case A14: a lone surrogate is refused at the door, wherever it stands.

Step 3 is the Python client's, and tested there.
"""

from typing import Any

import pytest

from factories import ASSISTANT, answered, called, held, keyed, patched, said
from support.rpc import Create, Rpc, field_refused

LONE = '{"out":"caf\\udc88"}'
PAIR = '{"ok":"\\ud83d\\ude00"}'
LONE_ONES = [LONE, '"\\ud800"', '["\\ud83dx"]', '"\\ude00\\ud83d"', '{"\\udfff":1}', '"\\uD83D\\u0041"']

PLACES: list[tuple[str, str, Any]] = [
    ("CreateSession", "metadata_json", lambda bad: {"metadata_json": bad}),
    ("CreateSession", "memory.extra_json", lambda bad: {"memory": {"extra_json": f'{{"k":{bad}}}'}}),
    ("Append", "messages[1].parts[0].tool_result.json", lambda bad: {"messages": [said("x"), answered("c", bad)]}),
    ("Append", "messages[0].parts[0].json", lambda bad: {"messages": [held(json=bad)]}),
    (
        "Append",
        "messages[0].parts[0].tool_call.arguments_json",
        lambda bad: {"messages": [called("c", arguments=bad)]},
    ),
    ("Append", "messages[0].metadata_json", lambda bad: {"messages": [said("x", metadata_json=bad)]}),
    (
        "Append",
        "tool_calls[0].arguments_json",
        lambda bad: {"tool_calls": [{"call_id": "c", "name": "n", "arguments_json": bad}]},
    ),
    ("Append", "tool_calls[0].result_json", lambda bad: {"tool_calls": [{"call_id": "c", "result_json": bad}]}),
    ("Append", "memory_change.merge_patch_json", lambda bad: {"memory_change": patched(f'{{"k":{bad}}}')}),
    ("UpdateMemory", "change.keys.set", lambda bad: {"change": keyed(k=bad)}),
    ("CompleteToolCall", "result_json", lambda bad: {"call_id": "c", "result_json": bad}),
]


@pytest.mark.parametrize("bad", LONE_ONES)
@pytest.mark.parametrize("place", PLACES)
async def test_a_lone_surrogate_is_refused_by_name(
    engine: Rpc, create: Create, place: tuple[str, str, Any], bad: str
) -> None:
    method, field, fields = place
    session_id = await create(messages=[called("c")])
    named = {} if method == "CreateSession" else {"session_id": session_id}
    assert await field_refused(getattr(engine, method)(**named, **fields(bad))) == field
    assert (await engine.GetSession(session_id=session_id)).session.version == 1


async def test_nothing_of_the_call_is_stored_and_every_read_goes_on(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[called("c1", "c2")])
    batch = [answered("c1", PAIR), answered("c2", LONE)]
    assert await field_refused(engine.Append(session_id=session_id, messages=batch)) == (
        "messages[1].parts[0].tool_result.json"
    )
    await engine.Append(session_id=session_id, messages=batch[:1])
    for method in ("GetSession", "GetContext", "GetMemory", "ListMessages", "ListToolCalls", "ListCommits"):
        await getattr(engine, method)(session_id=session_id)
    assert len((await engine.ListSessions()).sessions) == 1
    calls = (await engine.ListToolCalls(session_id=session_id)).tool_calls
    assert [call.result_json for call in calls] == [PAIR, ""]


@pytest.mark.parametrize("good", [PAIR, '"\U0001f600"', '"\\\\ud800"', '"\\u00e9"', '{"\\ud83d\\ude00":1}'])
async def test_pairs_and_what_only_looks_like_a_surrogate_come_back_as_sent(
    engine: Rpc, create: Create, good: str
) -> None:
    session_id = await create(messages=[held(role=ASSISTANT, json=good)], metadata_json=good)
    got = await engine.GetSession(session_id=session_id, recent_messages=1)
    assert (got.messages[0].parts[0].json, got.session.metadata_json) == (good, good)


@pytest.mark.parametrize("raw", [b"\xed\xa0\x80", b"\xff", b"\xc0\x80", b"\xf5\x80\x80\x80"])
async def test_bytes_that_are_no_text_are_refused(engine: Rpc, create: Create, raw: bytes) -> None:
    session_id = await create()
    title = bytes((0x2A, len(raw))) + raw  # CreateSessionRequest.title = 5
    assert await field_refused(engine.send_bytes("CreateSession", b"\x0a\x01r" + title)) == "request"
    assert (await engine.GetSession(session_id=session_id)).session.version == 1
