"""CONTRACT 9: every call is known, ends once, and is found by the ledger's id or the provider's."""

from typing import Any

import grpc
import pytest

from factories import (
    AWAITING_APPROVAL,
    CANCELLED,
    FAILED,
    INTERRUPTED,
    PENDING,
    RUNNING,
    SUCCEEDED,
    TOOL,
    answered,
    called,
    said,
)
from lockstitch.v1.message_pb2 import Message, Part, ToolResultPart
from lockstitch.v1.tool_call_pb2 import Resource, ToolCall
from support.rpc import Create, Refusal, Rpc, field_refused, outcome, refusal

OPEN = [PENDING, RUNNING, AWAITING_APPROVAL]
ENDED = [SUCCEEDED, FAILED, CANCELLED, INTERRUPTED]
ALLOWED = {(PENDING, RUNNING), (PENDING, AWAITING_APPROVAL)}


async def _call_at(engine: Rpc, create: Create, status: int) -> str:
    session_id = await create(messages=[called("c")])
    if status in ENDED:
        await engine.CompleteToolCall(session_id=session_id, call_id="c", status=status)
    elif status != PENDING:
        await engine.UpdateToolCall(session_id=session_id, call_id="c", status=status)
    return session_id


async def _call(engine: Rpc, session_id: str) -> ToolCall:
    (call,) = (await engine.ListToolCalls(session_id=session_id)).tool_calls
    assert isinstance(call, ToolCall)
    return call


@pytest.mark.parametrize("new", OPEN)
@pytest.mark.parametrize("old", OPEN + ENDED)
async def test_an_open_call_goes_the_ways_there_are(engine: Rpc, create: Create, old: int, new: int) -> None:
    session_id = await _call_at(engine, create, old)
    before = (await engine.GetSession(session_id=session_id)).session
    told = await outcome(engine.UpdateToolCall(session_id=session_id, call_id="c", status=new))
    if (old, new) in ALLOWED:
        assert told.tool_call.status == new
        return
    if old == new:
        assert told.receipt.version == before.version
    else:
        assert isinstance(told, Refusal)
        assert told.reason == ("TOOL_CALL_ENDED" if old in ENDED else "TOOL_CALL_STATUS")
        assert told.code == grpc.StatusCode.FAILED_PRECONDITION
    assert (await engine.GetSession(session_id=session_id)).session == before


@pytest.mark.parametrize("end", ENDED)
@pytest.mark.parametrize("start", OPEN)
async def test_any_open_call_ends(engine: Rpc, create: Create, start: int, end: int) -> None:
    session_id = await _call_at(engine, create, start)
    error = "" if end == SUCCEEDED else "why"
    ended = (await engine.CompleteToolCall(session_id=session_id, call_id="c", status=end, error=error)).tool_call
    assert (ended.status, ended.error, ended.HasField("start_time")) == (end, error, start == RUNNING)
    assert ended.ended_version > ended.requested_version
    # An unknown outcome is no message; a known one is.
    assert bool(ended.result_message_id) is (end != INTERRUPTED)
    assert ended == await _call(engine, session_id)


@pytest.mark.parametrize("end", [SUCCEEDED, FAILED, CANCELLED])
async def test_an_unknown_outcome_is_settled_once(engine: Rpc, create: Create, end: int) -> None:
    session_id = await _call_at(engine, create, INTERRUPTED)
    refused = await refusal(engine.UpdateToolCall(session_id=session_id, call_id="c", status=RUNNING))
    assert refused.reason == "TOOL_CALL_ENDED"
    settled = await engine.CompleteToolCall(session_id=session_id, call_id="c", status=end, result_json="1")
    assert (settled.tool_call.status, settled.tool_call.result_json) == (end, "1")
    for other in ENDED:
        told = await outcome(engine.CompleteToolCall(session_id=session_id, call_id="c", status=other, result_json="1"))
        assert isinstance(told, Refusal) is (other != end)
    context = (await engine.GetContext(session_id=session_id)).messages
    assert [message.call_id for message in context] == ["", "c"]


async def test_a_tool_message_settles_an_unknown_outcome_too(engine: Rpc, create: Create) -> None:
    session_id = await _call_at(engine, create, INTERRUPTED)
    await engine.Append(session_id=session_id, messages=[answered("c", '"late"')])
    call = await _call(engine, session_id)
    assert (call.status, call.result_json) == (SUCCEEDED, '"late"')


@pytest.mark.parametrize(
    ("fields", "status", "error"),
    [({}, SUCCEEDED, ""), ({"result_json": "1"}, SUCCEEDED, ""), ({"error": "e"}, FAILED, "e")],
)
async def test_a_status_left_out_follows_from_the_error(
    engine: Rpc, create: Create, fields: dict[str, Any], status: int, error: str
) -> None:
    session_id = await create(messages=[called("c")])
    call = (await engine.CompleteToolCall(session_id=session_id, call_id="c", **fields)).tool_call
    assert (call.status, call.error) == (status, error)


@pytest.mark.parametrize(
    ("parts", "status", "result", "error"),
    [
        ([Part(tool_result=ToolResultPart(json='{"a":1}'))], SUCCEEDED, '{"a":1}', ""),
        ([Part(tool_result=ToolResultPart(text="plain"))], SUCCEEDED, '"plain"', ""),
        ([Part(tool_result=ToolResultPart(text="broke", is_error=True))], FAILED, "", "broke"),
        ([Part(tool_result=ToolResultPart(json='"broke"', is_error=True))], FAILED, '"broke"', ""),
        ([Part(tool_result=ToolResultPart())], SUCCEEDED, "", ""),
        ([Part(text="a"), Part(text="b")], SUCCEEDED, '"ab"', ""),
        ([Part(text="a"), Part(json="1")], SUCCEEDED, "1", ""),
    ],
)
async def test_a_tool_message_ends_its_call_with_it(
    engine: Rpc, create: Create, parts: list[Part], *, status: int, result: str, error: str
) -> None:
    session_id = await create(messages=[called("c")])
    message = Message(role=TOOL, call_id="c", parts=parts)
    receipt = (await engine.Append(session_id=session_id, messages=[message])).receipt
    call = await _call(engine, session_id)
    assert (call.status, call.result_json, call.error) == (status, result, error)
    assert (call.ended_version, call.result_message_id) == (receipt.version, receipt.message_ids[0])
    (stored,) = (await engine.ListMessages(session_id=session_id, after_seq=1)).messages
    assert list(stored.parts) == parts


async def test_a_call_recorded_without_a_message_has_no_result_message(engine: Rpc, create: Create) -> None:
    session_id = await create()
    own = {"call_id": "c", "name": "n", "arguments_json": '{"a":1}', "resources": [{"uri": "u", "before": "b"}]}
    receipt = (await engine.Append(session_id=session_id, tool_calls=[own])).receipt
    call = await _call(engine, session_id)
    assert (call.tool_call_id, call.status, call.message_id) == (receipt.tool_call_ids[0], PENDING, "")
    done = await engine.CompleteToolCall(session_id=session_id, tool_call_id=call.tool_call_id, result_json="1")
    assert (list(done.receipt.message_ids), done.tool_call.result_json) == ([], "1")
    assert (await engine.GetSession(session_id=session_id)).session.message_count == 0


async def test_the_tool_message_of_a_completion_is_written_with_it(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[called("c")])
    (made,) = (await engine.ListToolCalls(session_id=session_id)).tool_calls
    done = await engine.CompleteToolCall(session_id=session_id, tool_call_id=made.tool_call_id, result_json="[1]")
    (message,) = (await engine.ListMessages(session_id=session_id, after_seq=1)).messages
    assert (message.role, message.call_id, message.version) == (TOOL, "c", done.receipt.version)
    assert message.parts[0].tool_result.json == "[1]"
    (commit,) = (await engine.ListCommits(session_id=session_id, after_version=1)).commits
    assert [stored.message_id for stored in commit.messages] == list(done.receipt.message_ids)


async def test_resources_are_one_entry_a_uri_and_later_states_replace_earlier(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[called("c")])
    await engine.UpdateToolCall(
        session_id=session_id, call_id="c", resources=[{"uri": "a", "before": "a1"}, {"uri": "b", "before": "b1"}]
    )
    await engine.UpdateToolCall(session_id=session_id, call_id="c", resources=[{"uri": "a", "after": "a2"}])
    done = await engine.CompleteToolCall(
        session_id=session_id, call_id="c", resources=[{"uri": "c"}, {"uri": "b", "before": "b0", "after": "b2"}]
    )
    assert list(done.tool_call.resources) == [
        Resource(uri="a", before="a1", after="a2"),
        Resource(uri="b", before="b0", after="b2"),
        Resource(uri="c"),
    ]


async def test_orphans_are_stored_where_allowed_and_stay_out_of_ledger_and_context(engine: Rpc, create: Create) -> None:
    session_id = await create()
    refused = await refusal(engine.Append(session_id=session_id, messages=[answered("never")]))
    assert refused.what == (grpc.StatusCode.NOT_FOUND, "TOOL_CALL_NOT_FOUND")
    await engine.Append(session_id=session_id, messages=[said("x"), answered("never")], allow_orphans=True)
    assert len((await engine.ListMessages(session_id=session_id)).messages) == 2
    assert [message.seq for message in (await engine.GetContext(session_id=session_id)).messages] == [1]
    assert not (await engine.ListToolCalls(session_id=session_id)).tool_calls
    await engine.Append(session_id=session_id, messages=[called("never")])
    assert (await _call(engine, session_id)).status == PENDING


async def test_several_changes_of_the_ledger_are_one_commit_or_none(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[called("a", "b")])
    steps = [
        {"call_id": "a", "status": RUNNING},
        {"call_id": "a", "result_json": "1"},
        {"call_id": "b", "status": AWAITING_APPROVAL},
        {"call_id": "b", "approval": {"granted": False, "note": "no"}},
        {"call_id": "c", "name": "n", "arguments_json": "{}"},
        {"call_id": "c", "status": RUNNING},
    ]
    bad = [*steps, {"call_id": "b", "status": RUNNING}]
    refused = await refusal(engine.Append(session_id=session_id, tool_calls=bad))
    assert (refused.reason, refused.field) == ("TOOL_CALL_ENDED", "tool_calls[6].call_id")
    assert (await engine.GetSession(session_id=session_id)).session.version == 1
    receipt = (await engine.Append(session_id=session_id, tool_calls=steps)).receipt
    assert (receipt.version, len(receipt.tool_call_ids), receipt.first_seq, receipt.last_seq) == (2, 1, 2, 2)
    calls = (await engine.ListToolCalls(session_id=session_id)).tool_calls
    assert [(call.call_id, call.status) for call in calls] == [("a", SUCCEEDED), ("b", CANCELLED), ("c", RUNNING)]
    open_calls = (await engine.GetSession(session_id=session_id, include_open_tool_calls=True)).open_tool_calls
    assert [call.call_id for call in open_calls] == ["c"]


async def test_calls_are_listed_by_status_name_and_digest(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[called("a", name="x"), called("b", name="y"), called("c", name="x")])
    await engine.CompleteToolCall(session_id=session_id, call_id="a")

    async def listed(**fields: Any) -> list[str]:
        return [call.call_id for call in (await engine.ListToolCalls(session_id=session_id, **fields)).tool_calls]

    assert await listed(statuses=[SUCCEEDED]) == ["a"]
    assert await listed(statuses=[PENDING, SUCCEEDED], name="x") == ["a", "c"]
    assert await listed(name="X") == []
    digest = (await engine.ListToolCalls(session_id=session_id)).tool_calls[0].arguments_digest
    assert await listed(arguments_digest=digest) == ["a", "b", "c"]
    assert await field_refused(engine.ListToolCalls(session_id=session_id, arguments_digest=digest[:-1])) == (
        "arguments_digest"
    )
    assert await field_refused(engine.ListToolCalls(session_id=session_id, statuses=[PENDING, 77])) == "statuses[1]"


BAD: list[tuple[str, str, dict[str, Any]]] = [
    ("UpdateToolCall", "call_id", {}),
    ("UpdateToolCall", "status", {"call_id": "c"}),
    ("UpdateToolCall", "status", {"call_id": "c", "status": 77}),
    ("UpdateToolCall", "status", {"call_id": "c", "status": SUCCEEDED}),
    ("UpdateToolCall", "status", {"call_id": "c", "status": RUNNING, "approval": {"granted": True}}),
    ("UpdateToolCall", "approval.note", {"call_id": "c", "approval": {"note": "x" * 1025}}),
    ("UpdateToolCall", "resources", {"call_id": "c", "resources": [{"uri": str(n)} for n in range(65)]}),
    ("UpdateToolCall", "resources[1].uri", {"call_id": "c", "resources": [{"uri": "u"}, {}]}),
    ("UpdateToolCall", "resources[0].uri", {"call_id": "c", "resources": [{"uri": "u" * 2049}]}),
    ("UpdateToolCall", "resources[0].before", {"call_id": "c", "resources": [{"uri": "u", "before": "é" * 2049}]}),
    ("CompleteToolCall", "call_id", {"result_json": "1"}),
    ("CompleteToolCall", "status", {"call_id": "c", "status": RUNNING}),
    ("CompleteToolCall", "status", {"call_id": "c", "status": -1}),
    ("CompleteToolCall", "error", {"call_id": "c", "status": SUCCEEDED, "error": "e"}),
    ("CompleteToolCall", "error", {"call_id": "c", "error": "é" * 32_769}),
    ("CompleteToolCall", "result_json", {"call_id": "c", "result_json": "nope"}),
    ("Append", "tool_calls[0].arguments_json", {"tool_calls": [{"call_id": "x", "name": "n"}]}),
    ("Append", "tool_calls[0].name", {"tool_calls": [{"call_id": "x", "arguments_json": "{}"}]}),
    ("Append", "tool_calls[0].call_id", {"tool_calls": [{"name": "n", "arguments_json": "{}"}]}),
    (
        "Append",
        "tool_calls[0].tool_call_id",
        {"tool_calls": [{"tool_call_id": "x", "name": "n", "arguments_json": "{}"}]},
    ),
    ("Append", "tool_calls[0].status", {"tool_calls": [{"call_id": "c"}]}),
    (
        "Append",
        "tool_calls[0].status",
        {"tool_calls": [{"call_id": "x", "name": "n", "arguments_json": "{}", "result_json": "1"}]},
    ),
    ("Append", "messages[0].call_id", {"messages": [Message(role=TOOL, parts=[Part(text="x")])]}),
    ("Append", "messages[0].call_id", {"messages": [said("x", call_id="c")]}),
    (
        "Append",
        "messages[0].call_id",
        {"messages": [Message(role=TOOL, call_id="d", parts=answered("c").parts)]},
    ),
    (
        "Append",
        "messages[0].parts",
        {"messages": [Message(role=TOOL, call_id="c", parts=[*answered("c").parts, *answered("c").parts])]},
    ),
]


@pytest.mark.parametrize(("method", "field", "fields"), BAD)
async def test_a_change_that_is_none_is_refused_by_name(
    engine: Rpc, create: Create, method: str, field: str, fields: dict[str, Any]
) -> None:
    session_id = await create(messages=[called("c")])
    before = await _call(engine, session_id)
    assert await field_refused(getattr(engine, method)(session_id=session_id, **fields)) == field
    assert await _call(engine, session_id) == before


@pytest.mark.parametrize("tool_call_id", ["x", "call_", "call_0000000000000000_1_0", "call_0_9999999999999999999_0"])
async def test_ids_that_the_ledger_never_gave_find_nothing(engine: Rpc, create: Create, tool_call_id: str) -> None:
    session_id = await create(messages=[called("c")])
    own = (await _call(engine, session_id)).tool_call_id
    for given in (tool_call_id, own[:-1] + "7", own.replace("_1_", "_01_"), own + " ", own.upper()):
        told = await refusal(engine.CompleteToolCall(session_id=session_id, tool_call_id=given))
        assert told.what == (grpc.StatusCode.NOT_FOUND, "TOOL_CALL_NOT_FOUND")
