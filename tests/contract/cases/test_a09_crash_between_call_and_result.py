"""Case A09: a call whose engine died before its result.

The raw view and GetContext; the model-facing view is ContextBuilder's, and tested with the client.
"""

from factories import CANCELLED, FAILED, INTERRUPTED, PENDING, RUNNING, SUCCEEDED, answered, called, said, texts_of
from support.rpc import Create, Rpc, refusal
from support.running import Lapse, fence_of, started


async def _crashed(engine: Rpc, create: Create) -> str:
    session_id = await create(messages=[said("weather?")])
    asked = called("c1", name="weather", arguments='{"city":"Oslo"}', text="looking")
    await engine.Append(session_id=session_id, messages=[asked])
    return session_id


async def test_a_call_without_a_result_is_open_and_the_talk_goes_on(engine: Rpc, create: Create) -> None:
    session_id = await _crashed(engine, create)
    seen = await engine.GetSession(session_id=session_id, include_open_tool_calls=True)
    assert [(call.call_id, call.status) for call in seen.open_tool_calls] == [("c1", PENDING)]
    assert seen.open_tool_calls[0].arguments_json == '{"city":"Oslo"}'

    await engine.Append(session_id=session_id, messages=[said("hello again")])
    raw = (await engine.ListMessages(session_id=session_id)).messages
    assert texts_of(raw) == ["weather?", "looking", "hello again"]
    context = await engine.GetContext(session_id=session_id)
    assert list(context.messages) == list(raw)
    assert [call.call_id for call in context.open_tool_calls] == ["c1"]
    assert not context.truncated


async def test_a_late_result_is_taken_once_and_stands_behind_its_call(engine: Rpc, create: Create) -> None:
    session_id = await _crashed(engine, create)
    await engine.Append(session_id=session_id, messages=[said("hello again")])
    late = await engine.CompleteToolCall(session_id=session_id, call_id="c1", result_json='"4 degrees"')
    assert (late.tool_call.status, late.tool_call.result_json) == (SUCCEEDED, '"4 degrees"')
    assert late.tool_call.result_message_id == late.receipt.message_ids[0]

    raw = (await engine.ListMessages(session_id=session_id)).messages
    assert [(message.seq, message.call_id) for message in raw] == [(1, ""), (2, ""), (3, ""), (4, "c1")]
    context = (await engine.GetContext(session_id=session_id)).messages
    assert [message.seq for message in context] == [1, 2, 4, 3]
    assert context[2].parts[0].tool_result.json == '"4 degrees"'

    again = await engine.CompleteToolCall(session_id=session_id, call_id="c1", result_json='"4 degrees"')
    assert (again.receipt.version, again.receipt.replayed) == (late.receipt.version, False)
    other = await refusal(engine.CompleteToolCall(session_id=session_id, call_id="c1", result_json='"5 degrees"'))
    assert other.reason == "TOOL_CALL_ENDED"
    assert (await engine.GetSession(session_id=session_id)).session.version == late.receipt.version


async def test_a_result_as_a_message_and_as_a_completion_are_one_result(engine: Rpc, create: Create) -> None:
    session_id = await _crashed(engine, create)
    stored = (await engine.Append(session_id=session_id, messages=[answered("c1", '"4 degrees"')])).receipt
    completed = await engine.CompleteToolCall(session_id=session_id, call_id="c1", result_json='"4 degrees"')
    repeated = await engine.Append(session_id=session_id, messages=[answered("c1", '"4 degrees"')])
    assert completed.receipt.version == repeated.receipt.version == stored.version
    other = await refusal(engine.Append(session_id=session_id, messages=[answered("c1", '"5 degrees"')]))
    assert (other.reason, other.field) == ("TOOL_CALL_ENDED", "messages[0].call_id")
    assert (await engine.GetSession(session_id=session_id)).session.message_count == 3


async def test_a_result_rides_with_news_or_not_at_all(engine: Rpc, create: Create) -> None:
    session_id = await _crashed(engine, create)
    batch = [said("hello again"), answered("c2"), said("more")]
    refused = await refusal(engine.Append(session_id=session_id, messages=batch))
    assert (refused.reason, refused.field) == ("TOOL_CALL_NOT_FOUND", "messages[1].call_id")
    assert (await engine.GetSession(session_id=session_id)).session.message_count == 2


async def test_parallel_results_stand_in_call_order_whatever_order_they_came_in(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[called("k1", "k2", "k3")])
    await engine.CompleteToolCall(session_id=session_id, call_id="k3", status=CANCELLED, error="not needed")
    await engine.Append(session_id=session_id, messages=[said("wait"), answered("k1", '"one"')])
    await engine.CompleteToolCall(session_id=session_id, call_id="k2", error="broke")

    context = await engine.GetContext(session_id=session_id)
    assert [message.call_id for message in context.messages] == ["", "k1", "k2", "k3", ""]
    calls = (await engine.ListToolCalls(session_id=session_id)).tool_calls
    assert [(call.call_id, call.status, call.error) for call in calls] == [
        ("k1", SUCCEEDED, ""),
        ("k2", FAILED, "broke"),
        ("k3", CANCELLED, "not needed"),
    ]


async def test_a_crash_in_the_middle_of_a_run_leaves_the_same(engine: Rpc, create: Create, lapse: Lapse) -> None:
    session_id = await create(messages=[said("weather?")])
    run = await started(engine, session_id)
    asked = called("c1", "c2", name="weather", arguments='{"city":"Oslo"}', text="looking")
    await engine.Append(session_id=session_id, fence=fence_of(run), messages=[asked])
    await engine.UpdateToolCall(session_id=session_id, fence=fence_of(run), call_id="c1", status=RUNNING)
    await engine.Append(session_id=session_id, messages=[said("hello again")])
    await lapse(session_id)
    new = await started(engine, session_id)

    # What was begun has an unknown outcome, what was not is safe to run; nothing was invented in storage.
    calls = (await engine.ListToolCalls(session_id=session_id)).tool_calls
    assert [(call.call_id, call.status, call.result_message_id) for call in calls] == [
        ("c1", INTERRUPTED, ""),
        ("c2", PENDING, ""),
    ]
    raw = (await engine.ListMessages(session_id=session_id)).messages
    assert texts_of(raw) == ["weather?", "looking", "hello again"]
    context = await engine.GetContext(session_id=session_id)
    assert [call.call_id for call in context.open_tool_calls] == ["c2"]
    assert [call.call_id for call in context.recent_tool_calls] == ["c1"]

    for call_id in ("c2", "c1"):
        await engine.CompleteToolCall(
            session_id=session_id, fence=fence_of(new), call_id=call_id, result_json=f'"{call_id}"'
        )
    context = await engine.GetContext(session_id=session_id)
    assert [message.call_id or message.parts[0].text for message in context.messages] == [
        "weather?",
        "looking",
        "c1",
        "c2",
        "hello again",
    ]
    twice = await refusal(engine.CompleteToolCall(session_id=session_id, call_id="c1", result_json='"other"'))
    assert twice.reason == "TOOL_CALL_ENDED"
