"""Case A12: providers reuse call ids."""

import pytest

from factories import FAILED, INTERRUPTED, RUNNING, SUCCEEDED, answered, called, said
from support.rpc import Create, Rpc, refusal
from support.running import Lapse, fence_of, started


async def _round(engine: Rpc, session_id: str, question: str, answer: str) -> None:
    await engine.Append(
        session_id=session_id, messages=[called("search:0", name="search", arguments=f'{{"q":"{question}"}}')]
    )
    await engine.CompleteToolCall(session_id=session_id, call_id="search:0", result_json=f'"{answer}"')


async def test_each_call_of_a_reused_id_has_its_own_result(engine: Rpc, create: Create) -> None:
    sessions = [await create(), await create()]
    for session_id in sessions:
        await _round(engine, session_id, "a", "ra")
        await _round(engine, session_id, "b", "rb")
    ledger_ids: set[str] = set()
    for session_id in sessions:
        calls = (await engine.ListToolCalls(session_id=session_id)).tool_calls
        assert [(call.arguments_json, call.result_json) for call in calls] == [
            ('{"q":"a"}', '"ra"'),
            ('{"q":"b"}', '"rb"'),
        ]
        ledger_ids.update(call.tool_call_id for call in calls)
        context = (await engine.GetContext(session_id=session_id)).messages
        assert [message.seq for message in context] == [1, 2, 3, 4]
    assert len(ledger_ids) == 4


async def test_call_and_result_of_a_reused_id_may_share_a_commit(engine: Rpc, create: Create) -> None:
    session_id = await create()
    rounds = [called("search:0"), answered("search:0", '"ra"'), called("search:0"), answered("search:0", '"rb"')]
    await engine.Append(session_id=session_id, messages=rounds)
    calls = (await engine.ListToolCalls(session_id=session_id)).tool_calls
    assert [call.result_json for call in calls] == ['"ra"', '"rb"']


async def test_an_id_finds_the_one_open_call_though_a_newer_one_ended(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[called("search:0")])
    first = (await engine.ListToolCalls(session_id=session_id)).tool_calls[0]
    await engine.Append(session_id=session_id, messages=[called("search:0")])
    second = (await engine.ListToolCalls(session_id=session_id)).tool_calls[1]
    await engine.CompleteToolCall(session_id=session_id, tool_call_id=second.tool_call_id, result_json="2")
    answer = await engine.CompleteToolCall(session_id=session_id, call_id="search:0", result_json="1")
    assert answer.tool_call.tool_call_id == first.tool_call_id
    late = await refusal(engine.CompleteToolCall(session_id=session_id, call_id="search:0", result_json="3"))
    assert late.reason == "TOOL_CALL_ENDED"


@pytest.mark.parametrize("at_once", [True, False])
async def test_two_open_calls_of_one_id_are_never_guessed_at(engine: Rpc, create: Create, *, at_once: bool) -> None:
    session_id = await create(messages=[called("search:0", "search:0")] if at_once else [called("search:0")])
    if not at_once:
        await engine.Append(session_id=session_id, messages=[called("search:0")])
    before = (await engine.GetSession(session_id=session_id)).session
    for call in (
        engine.CompleteToolCall(session_id=session_id, call_id="search:0", result_json="1"),
        engine.UpdateToolCall(session_id=session_id, call_id="search:0", status=2),
        engine.Append(session_id=session_id, messages=[said("hi"), answered("search:0")]),
        engine.Append(session_id=session_id, tool_calls=[{"call_id": "search:0", "error": "no"}]),
    ):
        assert (await refusal(call)).reason == "TOOL_CALL_AMBIGUOUS"
    assert (await engine.GetSession(session_id=session_id)).session == before

    first, second = (await engine.ListToolCalls(session_id=session_id)).tool_calls
    for call, result in ((first, "1"), (second, "2")):
        await engine.CompleteToolCall(session_id=session_id, tool_call_id=call.tool_call_id, result_json=result)
    ended = (await engine.ListToolCalls(session_id=session_id)).tool_calls
    assert [call.result_json for call in ended] == ["1", "2"]


async def test_a_ledger_id_of_another_session_finds_nothing(engine: Rpc, create: Create) -> None:
    here, there = await create(messages=[called("c1")]), await create(messages=[called("c1")])
    (foreign,) = (await engine.ListToolCalls(session_id=there)).tool_calls
    refused = await refusal(
        engine.CompleteToolCall(session_id=here, tool_call_id=foreign.tool_call_id, status=FAILED, error="x")
    )
    assert (refused.reason, refused.field) == ("TOOL_CALL_NOT_FOUND", "tool_call_id")


async def test_runs_that_reuse_an_id_each_have_their_own_call_and_result(
    engine: Rpc, create: Create, lapse: Lapse
) -> None:
    session_id = await create()
    runs = []
    for number in range(3):
        await lapse(session_id)
        runs.append(await started(engine, session_id))
        fence = fence_of(runs[-1])
        await engine.Append(session_id=session_id, fence=fence, messages=[called("search:0")])
        await engine.UpdateToolCall(session_id=session_id, fence=fence, call_id="search:0", status=RUNNING)
        if number != 1:
            await engine.CompleteToolCall(
                session_id=session_id, fence=fence, call_id="search:0", result_json=str(number)
            )
    # The second run was lost in the middle: its call has no result, and took nobody else's.
    seen = [
        [(call.status, call.result_json) for call in calls.tool_calls]
        for calls in [await engine.ListToolCalls(session_id=session_id, run_id=run.run_id) for run in runs]
    ]
    assert seen == [[(SUCCEEDED, "0")], [(INTERRUPTED, "")], [(SUCCEEDED, "2")]]
    # With none open the provider's id finds the newest; the ledger's id finds the one that is meant.
    late = await refusal(engine.CompleteToolCall(session_id=session_id, call_id="search:0", result_json="1"))
    assert late.reason == "TOOL_CALL_ENDED"
    (lost,) = (await engine.ListToolCalls(session_id=session_id, run_id=runs[1].run_id)).tool_calls
    await engine.CompleteToolCall(session_id=session_id, tool_call_id=lost.tool_call_id, result_json="1")
    calls = (await engine.ListToolCalls(session_id=session_id)).tool_calls
    assert [call.result_json for call in calls] == ["0", "1", "2"]
