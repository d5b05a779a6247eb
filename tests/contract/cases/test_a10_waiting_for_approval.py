"""Case A10: no repair touches a call that waits for approval."""

from collections.abc import Callable

import pytest

from factories import ASSISTANT, AWAITING_APPROVAL, CANCELLED, PENDING, RUNNING, SUCCEEDED, called, said
from lockstitch_server.server_process import ServerProcess
from support.databases import Database
from support.rpc import As, Create, Refusal, Rpc, outcome, refusal
from support.running import Lapse, fence_of, started


async def _waiting(engine: Rpc, create: Create) -> str:
    session_id = await create(messages=[called("c9", name="wire", arguments='{"eur":40}', text="may I?")])
    await engine.UpdateToolCall(session_id=session_id, call_id="c9", status=AWAITING_APPROVAL)
    return session_id


async def test_reads_and_a_new_server_leave_a_waiting_call_as_it_is(
    call_as: As, engine: Rpc, create: Create, shared_database: Database, start_server: Callable[..., ServerProcess]
) -> None:
    session_id = await _waiting(engine, create)

    async def seen(reader: Rpc) -> object:
        got = await reader.GetSession(session_id=session_id, include_open_tool_calls=True, recent_messages=10)
        context = await reader.GetContext(session_id=session_id)
        listed = await reader.ListMessages(session_id=session_id)
        calls = await reader.ListToolCalls(session_id=session_id)
        assert list(context.open_tool_calls) == list(got.open_tool_calls) == list(calls.tool_calls)
        assert list(context.messages) == list(got.messages) == list(listed.messages)
        return got

    before = await seen(engine)
    for _ in range(3):
        assert await seen(engine) == before
    assert await seen(call_as("e", "engine", to=start_server(shared_database))) == before
    (call,) = before.open_tool_calls  # type: ignore[attr-defined]
    assert call.status == AWAITING_APPROVAL


async def test_a_waiting_call_takes_its_result_and_nothing_else_is_said_of_it(engine: Rpc, create: Create) -> None:
    session_id = await _waiting(engine, create)
    await engine.CompleteToolCall(session_id=session_id, call_id="c9", result_json='{"approved":true}')
    await engine.Append(session_id=session_id, messages=[said("sent", role=ASSISTANT)])
    for messages in (
        (await engine.ListMessages(session_id=session_id)).messages,
        (await engine.GetContext(session_id=session_id)).messages,
    ):
        assert [message.call_id or message.parts[0].text for message in messages] == ["may I?", "c9", "sent"]
        assert messages[1].parts[0].tool_result.json == '{"approved":true}'


@pytest.mark.parametrize(("granted", "status"), [(True, PENDING), (False, CANCELLED)])
async def test_the_user_whose_session_it_is_answers(
    engine: Rpc, user: Rpc, create: Create, *, granted: bool, status: int
) -> None:
    session_id = await _waiting(engine, create)
    answer = await user.UpdateToolCall(
        session_id=session_id, call_id="c9", approval={"granted": granted, "note": "my word"}
    )
    assert answer.tool_call.status == status
    assert (answer.tool_call.approval.granted, answer.tool_call.approval.note) == (granted, "my word")
    assert answer.tool_call.HasField("end_time") is not granted


async def test_an_approval_is_for_a_call_that_waits(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[called("c9")])
    refused = await refusal(engine.UpdateToolCall(session_id=session_id, call_id="c9", approval={"granted": True}))
    assert (refused.reason, refused.metadata) == ("TOOL_CALL_STATUS", {"status": "PENDING"})


async def test_a_granted_call_runs_and_ends(engine: Rpc, create: Create) -> None:
    session_id = await _waiting(engine, create)
    await engine.UpdateToolCall(session_id=session_id, call_id="c9", approval={"granted": True})
    running = await engine.UpdateToolCall(session_id=session_id, call_id="c9", status=RUNNING)
    ended = await engine.CompleteToolCall(session_id=session_id, call_id="c9", result_json="1")
    assert ended.tool_call.status == SUCCEEDED
    assert ended.tool_call.start_time == running.tool_call.start_time
    assert ended.tool_call.approval.granted


async def test_a_refused_call_takes_no_result(engine: Rpc, create: Create) -> None:
    session_id = await _waiting(engine, create)
    await engine.UpdateToolCall(session_id=session_id, call_id="c9", approval={"granted": False})
    refused = await refusal(engine.CompleteToolCall(session_id=session_id, call_id="c9", result_json="1"))
    assert refused.reason == "TOOL_CALL_ENDED"


@pytest.mark.parametrize("granted", [True, False])
async def test_a_call_waits_through_the_loss_of_its_run_and_is_answered_then(
    engine: Rpc, user: Rpc, create: Create, lapse: Lapse, *, granted: bool
) -> None:
    session_id = await create()
    run = await started(engine, session_id)
    await engine.Append(session_id=session_id, fence=fence_of(run), messages=[called("c9", name="wire")])
    await engine.UpdateToolCall(session_id=session_id, fence=fence_of(run), call_id="c9", status=AWAITING_APPROVAL)
    await lapse(session_id)
    new = await started(engine, session_id)
    (call,) = (await engine.GetContext(session_id=session_id)).open_tool_calls
    assert (call.status, call.run_id) == (AWAITING_APPROVAL, run.run_id)
    await user.UpdateToolCall(session_id=session_id, call_id="c9", approval={"granted": granted})
    begun = await outcome(
        engine.UpdateToolCall(session_id=session_id, fence=fence_of(new), call_id="c9", status=RUNNING)
    )
    assert isinstance(begun, Refusal) is not granted
    (call,) = (await engine.ListToolCalls(session_id=session_id)).tool_calls
    assert call.status == (RUNNING if granted else CANCELLED)
