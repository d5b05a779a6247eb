"""The ledger follows messages that are taken back, and so does the next turn's context."""

from typing import Any

import pytest

from factories import (
    AWAITING_APPROVAL,
    FAILED,
    INTERRUPTED,
    PENDING,
    RUNNING,
    SUCCEEDED,
    answered,
    called,
    said,
    texts_of,
)
from lockstitch.v1.tool_call_pb2 import ToolCall
from support.histories import paged, whole
from support.rpc import Create, Rpc, refusal


async def calls(engine: Rpc, session_id: str) -> list[ToolCall]:
    return list((await engine.ListToolCalls(session_id=session_id)).tool_calls)


@pytest.mark.parametrize(
    "before",
    [
        {},
        {"status": RUNNING, "resources": [{"uri": "file:a", "before": "1"}]},
        {"status": AWAITING_APPROVAL},
    ],
)
@pytest.mark.parametrize("by_message", [True, False])
async def test_a_removed_result_opens_its_call_as_it_stood_before(
    engine: Rpc, create: Create, before: dict[str, Any], *, by_message: bool
) -> None:
    session_id = await create(messages=[called("c1", arguments='{"q":1}')])
    if before:
        await engine.UpdateToolCall(session_id=session_id, call_id="c1", **before)
    (open_call,) = await calls(engine, session_id)
    if by_message:
        await engine.Append(session_id=session_id, messages=[said("meanwhile"), answered("c1", "1")])
    else:
        ending = {"error": "boom", "resources": [{"uri": "file:a", "after": "2"}, {"uri": "file:b"}]}
        await engine.CompleteToolCall(session_id=session_id, call_id="c1", **ending)
    (ended,) = await calls(engine, session_id)
    assert ended.status == (SUCCEEDED if by_message else FAILED)

    await engine.RemoveMessages(session_id=session_id, last=1)
    assert await calls(engine, session_id) == [open_call]
    assert list((await whole(engine, session_id)).open_tool_calls) == [open_call]
    # It may end otherwise now.
    again = await engine.CompleteToolCall(session_id=session_id, call_id="c1", result_json='"other"')
    assert (again.tool_call.status, again.tool_call.result_json) == (SUCCEEDED, '"other"')


async def test_a_result_that_came_with_its_call_leaves_it_pending(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[called("c1"), answered("c1")])
    await engine.RemoveMessages(session_id=session_id, last=1)
    (call,) = await calls(engine, session_id)
    assert (call.status, call.result_json, call.ended_version, call.result_message_id) == (PENDING, "", 0, "")
    assert not call.HasField("end_time")


async def test_a_settled_call_is_interrupted_again_without_its_result(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[called("c1")])
    await engine.CompleteToolCall(session_id=session_id, call_id="c1", status=INTERRUPTED, error="lost")
    (interrupted,) = await calls(engine, session_id)
    await engine.CompleteToolCall(session_id=session_id, call_id="c1", result_json='"late"')
    settled = (await engine.ListCommits(session_id=session_id, after_version=2)).commits[0]
    assert [(call.status, call.error) for call in settled.tool_calls] == [(SUCCEEDED, "")]
    await engine.RemoveMessages(session_id=session_id, last=1)
    assert await calls(engine, session_id) == [interrupted]


async def test_a_result_may_be_replaced_again_and_again(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[called("c1")])
    await engine.UpdateToolCall(session_id=session_id, call_id="c1", status=RUNNING)
    (running,) = await calls(engine, session_id)
    await engine.Append(session_id=session_id, messages=[answered("c1", "0")])
    for number in range(1, 4):
        replacement = [answered("c1", str(number))]
        await engine.RemoveMessages(session_id=session_id, last=1, replacement=replacement)
        (call,) = await calls(engine, session_id)
        assert (call.status, call.result_json) == (SUCCEEDED, str(number))
    await engine.RemoveMessages(session_id=session_id, last=1)
    assert await calls(engine, session_id) == [running]
    await engine.RemoveMessages(session_id=session_id, from_seq=1)
    assert await calls(engine, session_id) == []
    results = {version: await whole(engine, session_id, version) for version in range(3, 7)}
    assert [then.messages[-1].parts[0].tool_result.json for then in results.values()] == ["0", "1", "2", "3"]


async def test_a_removed_call_leaves_the_ledger(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[called("search:0", arguments='"a"'), answered("search:0", '"ra"')])
    (older,) = await calls(engine, session_id)
    await engine.Append(session_id=session_id, messages=[called("search:0", "other", arguments='"b"')])
    newer = (await calls(engine, session_id))[1]
    await engine.RemoveMessages(session_id=session_id, last=1)
    assert await calls(engine, session_id) == [older]
    for target in ({"tool_call_id": newer.tool_call_id}, {"call_id": "other"}):
        gone = await refusal(engine.CompleteToolCall(session_id=session_id, result_json="1", **target))
        assert gone.reason == "TOOL_CALL_NOT_FOUND"
    # The provider's id finds the older one again: it has ended.
    late = await refusal(engine.CompleteToolCall(session_id=session_id, call_id="search:0", result_json="1"))
    assert late.reason == "TOOL_CALL_ENDED"
    refused = await refusal(engine.Append(session_id=session_id, messages=[answered("other")]))
    assert refused.reason == "TOOL_CALL_NOT_FOUND"


async def test_removed_calls_are_no_longer_ambiguous(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[called("c1")])
    await engine.Append(session_id=session_id, messages=[called("c1")])
    complete = {"session_id": session_id, "call_id": "c1", "result_json": "1"}
    assert (await refusal(engine.CompleteToolCall(**complete))).reason == "TOOL_CALL_AMBIGUOUS"
    await engine.RemoveMessages(session_id=session_id, last=1)
    assert (await engine.CompleteToolCall(**complete)).tool_call.requested_version == 1


async def test_a_turn_is_replaced_with_its_calls_and_results(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[said("q"), called("c1", arguments="1"), answered("c1", "10"), said("old")])
    await engine.Append(session_id=session_id, messages=[called("c2", arguments="2")])
    replacement = [called("c1", arguments="3"), answered("c1", "30"), called("c2"), said("new")]
    receipt = (await engine.RemoveMessages(session_id=session_id, from_seq=2, replacement=replacement)).receipt
    assert (receipt.first_seq, receipt.last_seq, len(receipt.message_ids), len(receipt.tool_call_ids)) == (6, 9, 4, 2)
    ledger = await calls(engine, session_id)
    assert [call.tool_call_id for call in ledger] == list(receipt.tool_call_ids)
    assert [(call.call_id, call.arguments_json, call.result_json) for call in ledger] == [
        ("c1", "3", "30"),
        ("c2", "{}", ""),
    ]
    context = await engine.GetContext(session_id=session_id)
    assert [message.seq for message in context.messages] == [1, 6, 7, 8, 9]
    assert [call.call_id for call in context.open_tool_calls] == ["c2"]
    assert [call.result_json for call in context.recent_tool_calls] == ["30"]
    assert not context.truncated


@pytest.mark.parametrize(
    ("replacement", "reason", "field"),
    [
        ([said("x"), answered("gone")], "TOOL_CALL_NOT_FOUND", "replacement[1].call_id"),
        ([answered("c2")], "TOOL_CALL_NOT_FOUND", "replacement[0].call_id"),
        ([answered("c0", '"another"')], "TOOL_CALL_ENDED", "replacement[0].call_id"),
        ([said("x"), answered("c0", '"done"')], "TOOL_CALL_ENDED", "replacement[1].call_id"),
        ([called("c1"), answered("c1")], "TOOL_CALL_AMBIGUOUS", "replacement[1].call_id"),
        ([said("x", message_id="m"), said("y", message_id="m")], "MESSAGE_ID_EXISTS", "replacement[1].message_id"),
    ],
)
async def test_a_refused_replacement_removes_nothing(
    engine: Rpc, create: Create, replacement: Any, reason: str, field: str
) -> None:
    first = [called("c0"), answered("c0"), called("c1"), answered("c1"), called("c2"), said("last")]
    session_id = await create(messages=first)
    before = await whole(engine, session_id), await calls(engine, session_id)
    # From seq 4 on: the result of c1, and c2 itself.
    request = {"session_id": session_id, "from_seq": 4, "request_id": "replace"}
    refused = await refusal(engine.RemoveMessages(replacement=replacement, **request))
    assert (refused.reason, refused.field) == (reason, field)
    assert (await whole(engine, session_id), await calls(engine, session_id)) == before
    commits = (await engine.ListCommits(session_id=session_id)).commits
    assert [commit.version for commit in commits] == [1]
    assert len(await paged(engine.ListMessages, "messages", session_id=session_id, show_removed=True)) == 6
    # A refusal burns no request_id.
    assert (await engine.RemoveMessages(replacement=[said("fine")], **request)).removed_count == 3


async def test_context_after_the_result_of_an_older_call_was_removed(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[said("q"), called("c1", "c2", text="calling")])
    await engine.Append(session_id=session_id, messages=[answered("c2", '"r2"'), said("note"), answered("c1", '"r1"')])
    context = await engine.GetContext(session_id=session_id)
    assert [message.seq for message in context.messages] == [1, 2, 5, 3, 4]
    await engine.RemoveMessages(session_id=session_id, last=1)
    context = await engine.GetContext(session_id=session_id)
    assert [message.seq for message in context.messages] == [1, 2, 3, 4]
    assert [(call.call_id, call.status) for call in context.open_tool_calls] == [("c1", PENDING)]
    assert [call.call_id for call in context.recent_tool_calls] == ["c2"]
    assert not context.truncated


async def test_context_still_holds_results_after_their_calls_message_was_changed(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[called("c1", text="old"), answered("c1", '"r"'), said("thanks")])
    await engine.UpdateMessage(
        session_id=session_id,
        message_id=(await whole(engine, session_id)).messages[0].message_id,
        message=called("c1", text="new"),
    )
    for most in (3, 200):
        context = await engine.GetContext(session_id=session_id, max_messages=most)
        assert [message.seq for message in context.messages] == [1, 2, 3]
        assert texts_of(context.messages)[0] == "new"
        assert not context.truncated


async def test_removing_every_message_empties_the_context(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[called("c1"), answered("c1"), said("a")], memory={"goal": "g"})
    await engine.RemoveMessages(session_id=session_id, from_seq=1)
    context = await engine.GetContext(session_id=session_id)
    assert (list(context.messages), list(context.open_tool_calls), list(context.recent_tool_calls)) == ([], [], [])
    assert (context.memory.goal, context.as_of_version, context.truncated) == ("g", 2, False)
