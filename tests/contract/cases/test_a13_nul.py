"""Case A13: U+0000 is kept exactly or refused with the field named, and never takes a connection along."""

from typing import Any

import pytest

from factories import answered, called, fresh, keyed, patched, said, texts_of
from support.rpc import Create, Rpc, field_refused

NUL = "\x00"


async def test_a_nul_in_text_comes_back_exactly(engine: Rpc, create: Create) -> None:
    session_id = await create()
    texts = ["fine", f"weather in {NUL} Oslo", f"{NUL}{NUL}", "fine too"]
    await engine.Append(session_id=session_id, messages=[said(text) for text in texts])
    assert texts_of((await engine.ListMessages(session_id=session_id)).messages) == texts
    assert texts_of((await engine.GetContext(session_id=session_id)).messages) == texts


async def test_an_escaped_nul_comes_back_as_the_same_escape(engine: Rpc, create: Create) -> None:
    escaped = '{"out":"a\\u0000b"}'
    session_id = await create(metadata_json=escaped, messages=[called("c1", arguments=escaped)])
    await engine.CompleteToolCall(session_id=session_id, call_id="c1", result_json=escaped)
    await engine.UpdateMemory(session_id=session_id, change=keyed(out=escaped))
    (call,) = (await engine.ListToolCalls(session_id=session_id)).tool_calls
    session = await engine.GetSession(session_id=session_id, include_memory=True)
    assert [call.arguments_json, call.result_json, session.session.metadata_json] == [escaped] * 3
    assert session.memory.extra_json == '{"out":' + escaped + "}"


async def test_a_nul_in_an_error_comes_back_exactly(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[called("c1")])
    answer = await engine.CompleteToolCall(session_id=session_id, call_id="c1", error=f"a{NUL}b")
    assert answer.tool_call.error == f"a{NUL}b"
    assert (await engine.ListToolCalls(session_id=session_id)).tool_calls[0].error == f"a{NUL}b"


async def test_a_memory_key_with_a_nul_is_kept_or_refused_by_name(engine: Rpc, create: Create) -> None:
    session_id = await create()
    for field, change in (
        ("change.merge_patch_json", patched('{"k\\u0000":1}')),
        ("change.keys.set", keyed(**{f"k{NUL}": "1"})),
    ):
        assert (await field_refused(engine.UpdateMemory(session_id=session_id, change=change))) == field
    assert (await engine.GetMemory(session_id=session_id)).memory.version == 0


REFUSED: list[tuple[str, str, dict[str, Any]]] = [
    ("CreateSession", "request_id", {"request_id": NUL}),
    ("CreateSession", "session_id", {"session_id": f"s{NUL}"}),
    ("CreateSession", "user_id", {"user_id": f"u{NUL}"}),
    ("CreateSession", "agent", {"agent": NUL}),
    ("CreateSession", "title", {"title": f"a{NUL}b"}),
    ("CreateSession", "labels", {"labels": {"k": NUL}}),
    ("CreateSession", "labels key", {"labels": {NUL: "v"}}),
    ("CreateSession", "metadata_json", {"metadata_json": f'"{NUL}"'}),
    ("CreateSession", "messages[0].author", {"messages": [said("x", author=NUL)]}),
    ("CreateSession", "messages[0].message_id", {"messages": [said("x", message_id=f"m{NUL}")]}),
    ("CreateSession", "messages[0].metadata_json", {"messages": [said("x", metadata_json=f'"{NUL}"')]}),
    ("CreateSession", "messages[0].parts[0].tool_call.call_id", {"messages": [called(NUL)]}),
    ("CreateSession", "messages[0].parts[0].tool_call.name", {"messages": [called("c", name=NUL)]}),
    ("CreateSession", "memory.extra_json", {"memory": {"extra_json": f'{{"a":"{NUL}"}}'}}),
    ("Append", "messages[1].parts[0].tool_result.call_id", {"messages": [said("x"), answered(NUL)]}),
    ("Append", "session_id", {"session_id": NUL, "messages": [said("x")]}),
    ("Append", "tool_calls[0].name", {"tool_calls": [{"call_id": "c", "name": NUL, "arguments_json": "{}"}]}),
    ("Append", "tool_calls[0].resources[0].uri", {"tool_calls": [{"call_id": "c", "resources": [{"uri": NUL}]}]}),
    ("UpdateToolCall", "approval.note", {"call_id": "c", "approval": {"note": NUL}}),
    ("CloseSession", "reason", {"reason": NUL}),
    ("GetSession", "session_id", {"session_id": NUL}),
    ("ListToolCalls", "name", {"name": NUL}),
    ("ListToolCalls", "arguments_digest", {"arguments_digest": NUL}),
    ("ListSessions", "user_id", {"user_id": NUL}),
    ("ListSessions", "labels", {"labels": {"k": NUL}}),
]


@pytest.mark.parametrize(("method", "field", "fields"), REFUSED)
async def test_a_nul_elsewhere_is_refused_by_name_and_the_channel_goes_on(
    engine: Rpc, create: Create, method: str, field: str, fields: dict[str, Any]
) -> None:
    session_id = await create()
    named = {} if method in {"CreateSession", "ListSessions"} else {"session_id": session_id}
    assert await field_refused(getattr(engine, method)(**named | fields)) == field
    assert (await engine.GetSession(session_id=session_id)).session.version == 1
    await engine.Append(session_id=session_id, messages=[said("plain")])
    assert texts_of((await engine.ListMessages(session_id=session_id)).messages) == ["plain"]


async def test_a_refused_batch_stores_nothing_of_itself(engine: Rpc, create: Create) -> None:
    session_id = await create()
    batch = [said("fine"), said("not fine", author=NUL), said("fine too")]
    request_id = fresh()
    assert await field_refused(engine.Append(session_id=session_id, request_id=request_id, messages=batch))
    del batch[1]
    receipt = (await engine.Append(session_id=session_id, request_id=request_id, messages=batch)).receipt
    assert (receipt.version, receipt.first_seq, receipt.last_seq) == (2, 1, 2)
