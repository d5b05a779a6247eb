"""CONTRACT 9: the ledger under runs: said before done, found again, settled once, whoever brings the result."""

import asyncio
from itertools import product
from typing import Any

import pytest

from factories import (
    AWAITING_APPROVAL,
    CANCELLED,
    FAILED,
    INTERRUPTED,
    PENDING,
    RUNNING,
    SUCCEEDED,
    answered,
    called,
    said,
)
from lockstitch.v1.tool_call_pb2 import Resource, ToolCall
from support.rpc import Create, Refusal, Rpc, outcome, refusal
from support.running import DONE, INTERRUPT, Lapse, fence_of, started

OPEN = [PENDING, RUNNING, AWAITING_APPROVAL]
ENDED = [SUCCEEDED, FAILED, CANCELLED, INTERRUPTED]


async def _calls(engine: Rpc, session_id: str, **fields: Any) -> list[ToolCall]:
    return list((await engine.ListToolCalls(session_id=session_id, **fields)).tool_calls)


def _named(call_id: str, arguments: str, name: str = "pay") -> dict[str, str]:
    return {"call_id": call_id, "name": name, "arguments_json": arguments}


async def test_what_a_run_is_about_to_do_is_on_record_before_it_does_it(engine: Rpc, user: Rpc, create: Create) -> None:
    session_id = await create(messages=[called("c")])
    run = await started(engine, session_id)
    begun = await engine.UpdateToolCall(
        session_id=session_id,
        fence=fence_of(run),
        call_id="c",
        status=RUNNING,
        resources=[{"uri": "db:orders", "before": "v1"}],
    )
    (seen,) = await _calls(user, session_id)
    assert seen == begun.tool_call
    assert (seen.status, seen.start_time, seen.ended_version) == (RUNNING, begun.receipt.commit_time, 0)
    done = await engine.CompleteToolCall(
        session_id=session_id,
        fence=fence_of(run),
        call_id="c",
        result_json="{}",
        resources=[{"uri": "db:orders", "after": "v2"}, {"uri": "mail:1", "after": "sent"}],
    )
    assert list(done.tool_call.resources) == [
        Resource(uri="db:orders", before="v1", after="v2"),
        Resource(uri="mail:1", after="sent"),
    ]
    assert (done.tool_call.start_time, done.tool_call.end_time) == (seen.start_time, done.receipt.commit_time)
    commits = (await engine.ListCommits(session_id=session_id, after_version=2)).commits
    assert [(commit.run_id, commit.tool_calls[0].status) for commit in commits] == [
        (run.run_id, RUNNING),
        (run.run_id, SUCCEEDED),
    ]


async def test_resources_that_a_lost_run_touched_stay_on_record(engine: Rpc, create: Create, lapse: Lapse) -> None:
    session_id = await create(messages=[called("c")])
    run = await started(engine, session_id)
    touched = {"uri": "file:///a", "before": "1"}
    await engine.UpdateToolCall(
        session_id=session_id, fence=fence_of(run), call_id="c", status=RUNNING, resources=[touched]
    )
    await lapse(session_id)
    new = await started(engine, session_id)
    (lost,) = (await engine.GetContext(session_id=session_id)).recent_tool_calls
    assert (lost.status, list(lost.resources)) == (INTERRUPTED, [Resource(uri="file:///a", before="1")])
    settled = await engine.CompleteToolCall(
        session_id=session_id,
        fence=fence_of(new),
        call_id="c",
        result_json="true",
        resources=[{"uri": "file:///a", "after": "2"}],
    )
    assert list(settled.tool_call.resources) == [Resource(uri="file:///a", before="1", after="2")]


async def test_a_user_answers_while_the_run_waits_and_the_run_goes_on(engine: Rpc, user: Rpc, create: Create) -> None:
    session_id = await create(messages=[called("yes", "no")])
    run = await started(engine, session_id)
    for call_id in ("yes", "no"):
        await engine.UpdateToolCall(
            session_id=session_id, fence=fence_of(run), call_id=call_id, status=AWAITING_APPROVAL
        )
    granted = await user.UpdateToolCall(session_id=session_id, call_id="yes", approval={"granted": True})
    refused = await user.UpdateToolCall(
        session_id=session_id, call_id="no", approval={"granted": False, "note": "too dear"}
    )
    assert (granted.tool_call.status, refused.tool_call.status) == (PENDING, CANCELLED)
    assert (refused.tool_call.approval.note, refused.tool_call.end_time) == ("too dear", refused.receipt.commit_time)
    again = await refusal(user.UpdateToolCall(session_id=session_id, call_id="no", approval={"granted": True}))
    assert again.reason == "TOOL_CALL_ENDED"
    await engine.UpdateToolCall(session_id=session_id, fence=fence_of(run), call_id="yes", status=RUNNING)
    await engine.CompleteToolCall(session_id=session_id, fence=fence_of(run), call_id="yes", result_json="1")
    assert [call.status for call in await _calls(user, session_id)] == [SUCCEEDED, CANCELLED]


async def test_an_approval_outlives_the_run_that_asked_for_it(engine: Rpc, user: Rpc, create: Create) -> None:
    session_id = await create(messages=[called("c")])
    run = await started(engine, session_id)
    await engine.UpdateToolCall(session_id=session_id, fence=fence_of(run), call_id="c", status=AWAITING_APPROVAL)
    await engine.FinishRun(session_id=session_id, fence=fence_of(run), status=DONE)
    await user.UpdateToolCall(session_id=session_id, call_id="c", approval={"granted": True})
    new = await started(engine, session_id)
    await engine.UpdateToolCall(session_id=session_id, fence=fence_of(new), call_id="c", status=RUNNING)
    await started(engine, session_id, on_busy=INTERRUPT)
    (call,) = await _calls(engine, session_id)
    assert (call.status, call.approval.granted) == (INTERRUPTED, True)


ALIKE = [
    '{"a":1,"b":[1.0,{"c":null}]}',
    ' { "b" : [ 1.0 , { "c" : null } ] , "a" : 1 } ',
    '{"b":[1.0,{"c":null}],\n"a":1}',
]
OTHERS = [
    '{"a":1.0,"b":[1.0,{"c":null}]}',
    '{"a":1,"b":[1,{"c":null}]}',
    '{"a":1,"b":[1.00,{"c":null}]}',
    '{"a":1,"b":[{"c":null},1.0]}',
    '{"a":"1","b":[1.0,{"c":null}]}',
    '{"a":1,"b":[1.0,{"c":0}]}',
    '{"a":1e0,"b":[1.0,{"c":null}]}',
]


async def test_a_call_that_is_made_again_is_found_by_its_digest(engine: Rpc, create: Create) -> None:
    session_id = await create()
    first = await started(engine, session_id)
    texts = [*ALIKE, *OTHERS, "1e3", "1000", "1E3", "-0", "0", "-0.0", '"\\u0041"', '"a"']
    calls = [_named(str(place), text) for place, text in enumerate(texts)]
    await engine.Append(session_id=session_id, fence=fence_of(first), tool_calls=calls)
    digests = [call.arguments_digest for call in await _calls(engine, session_id)]
    assert len(set(digests[: len(ALIKE)])) == 1
    assert len(set(digests)) == len(texts) - len(ALIKE) + 1

    second = await started(engine, session_id, on_busy=INTERRUPT)
    again = [_named("again", ALIKE[1]), _named("other name", ALIKE[0], name="refund")]
    await engine.Append(session_id=session_id, fence=fence_of(second), tool_calls=again)
    await engine.Append(session_id=session_id, tool_calls=[_named("outside", ALIKE[2])])

    async def found(**fields: Any) -> list[str]:
        return [call.call_id for call in await _calls(engine, session_id, arguments_digest=digests[0], **fields)]

    assert await found() == ["0", "1", "2", "again", "other name", "outside"]
    assert await found(name="pay") == ["0", "1", "2", "again", "outside"]
    assert await found(name="pay", run_id=first.run_id) == ["0", "1", "2"]
    assert await found(name="pay", run_id=second.run_id) == ["again"]
    assert await found(run_id="never-was") == []
    # In another session it is another's.
    assert await _calls(engine, await create(), arguments_digest=digests[0]) == []


async def test_a_digest_is_of_the_arguments_whoever_recorded_the_call(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[called("m", name="pay", arguments='{"b":2,"a":1}')])
    await engine.Append(session_id=session_id, tool_calls=[_named("l", '{"a":1, "b":2}')])
    by_message, by_ledger = await _calls(engine, session_id)
    assert by_message.arguments_digest == by_ledger.arguments_digest
    assert (by_message.arguments_json, by_ledger.arguments_json) == ('{"b":2,"a":1}', '{"a":1, "b":2}')


async def test_a_late_result_after_a_takeover_settles_once(
    engines: tuple[Rpc, Rpc], create: Create, lapse: Lapse
) -> None:
    engine, other = engines
    session_id = await create(messages=[called("c")])
    run = await started(engine, session_id)
    await engine.UpdateToolCall(session_id=session_id, fence=fence_of(run), call_id="c", status=RUNNING)
    await lapse(session_id)
    new = await started(other, session_id)
    late = engine.CompleteToolCall(session_id=session_id, fence=fence_of(run), call_id="c", result_json='"late"')
    assert (await refusal(late)).reason == "RUN_FENCED"
    # Who has the result brings it from outside of runs, or the new run does: the first counts.
    told = await asyncio.gather(
        outcome(engine.CompleteToolCall(session_id=session_id, call_id="c", result_json='"late"')),
        outcome(other.CompleteToolCall(session_id=session_id, fence=fence_of(new), call_id="c", result_json='"new"')),
    )
    (won,) = [answer for answer in told if not isinstance(answer, Refusal)]
    (lost,) = [answer for answer in told if isinstance(answer, Refusal)]
    assert lost.reason == "TOOL_CALL_ENDED"
    (call,) = await _calls(engine, session_id)
    assert call == won.tool_call
    context = (await engine.GetContext(session_id=session_id)).messages
    assert [message.call_id for message in context] == ["", "c"]


@pytest.mark.parametrize("as_messages", [False, True])
async def test_parallel_results_for_one_message_from_two_servers_are_all_stored_once(
    engines: tuple[Rpc, Rpc], create: Create, *, as_messages: bool
) -> None:
    names = [f"c{number}" for number in range(16)]
    session_id = await create(messages=[called(*names), said("meanwhile")])

    async def answer(place: int, call_id: str) -> Any:
        engine, result = engines[place % 2], f'"{call_id}"'
        if as_messages:
            return await engine.Append(session_id=session_id, messages=[answered(call_id, result)])
        return await engine.CompleteToolCall(session_id=session_id, call_id=call_id, result_json=result)

    answers = await asyncio.gather(*(answer(place, call_id) for place, call_id in enumerate(names)))
    assert sorted(each.receipt.version for each in answers) == list(range(2, 18))
    calls = await _calls(engines[0], session_id)
    assert [(call.status, call.result_json) for call in calls] == [(SUCCEEDED, f'"{name}"') for name in names]
    context = (await engines[1].GetContext(session_id=session_id)).messages
    assert [message.call_id for message in context] == ["", *names, ""]
    raw = (await engines[1].ListMessages(session_id=session_id)).messages
    assert sorted(message.call_id for message in raw[2:]) == sorted(names)


async def test_of_different_results_for_one_call_at_once_one_counts(engines: tuple[Rpc, Rpc], create: Create) -> None:
    for _ in range(5):
        session_id = await create(messages=[called("c")])
        told = await asyncio.gather(
            *(
                outcome(engines[n % 2].CompleteToolCall(session_id=session_id, call_id="c", result_json=str(n // 2)))
                for n in range(8)
            )
        )
        stored = [answer for answer in told if not isinstance(answer, Refusal)]
        # Two bring each result: the second of the winner's is OK, unchanged.
        assert len(stored) == 2
        assert {answer.receipt.version for answer in stored} == {2}
        assert {answer.reason for answer in told if isinstance(answer, Refusal)} == {"TOOL_CALL_ENDED"}
        assert (await engines[0].GetSession(session_id=session_id)).session.message_count == 2


async def _at(engine: Rpc, create: Create, status: int) -> str:
    session_id = await create(messages=[called("c")])
    if status in ENDED:
        await engine.CompleteToolCall(session_id=session_id, call_id="c", status=status, result_json="1")
    elif status != PENDING:
        await engine.UpdateToolCall(session_id=session_id, call_id="c", status=status)
    return session_id


@pytest.mark.parametrize(("old", "new"), list(product(OPEN + ENDED, ENDED)))
async def test_every_pair_of_a_status_and_an_end(engine: Rpc, create: Create, old: int, new: int) -> None:
    session_id = await _at(engine, create, old)
    before = (await engine.GetSession(session_id=session_id)).session.version
    told = await outcome(engine.CompleteToolCall(session_id=session_id, call_id="c", status=new, result_json="1"))
    (call,) = await _calls(engine, session_id)
    if old in OPEN or (old == INTERRUPTED and new != INTERRUPTED):
        assert (call.status, told.receipt.version) == (new, before + 1)
    elif old == new:
        assert (call.status, told.receipt.version) == (old, before)
    else:
        assert (told.reason, call.status) == ("TOOL_CALL_ENDED", old)
        assert (await engine.GetSession(session_id=session_id)).session.version == before


@pytest.mark.parametrize(("old", "granted"), list(product(OPEN + ENDED, [True, False])))
async def test_every_pair_of_a_status_and_an_answer(engine: Rpc, create: Create, old: int, *, granted: bool) -> None:
    session_id = await _at(engine, create, old)
    before = (await engine.GetSession(session_id=session_id)).session.version
    told = await outcome(
        engine.UpdateToolCall(session_id=session_id, call_id="c", approval={"granted": granted, "note": "n"})
    )
    (call,) = await _calls(engine, session_id)
    if old == AWAITING_APPROVAL:
        assert (call.status, call.approval.granted) == (PENDING if granted else CANCELLED, granted)
    else:
        assert told.reason == ("TOOL_CALL_ENDED" if old in ENDED else "TOOL_CALL_STATUS")
        assert (call.status, call.HasField("approval")) == (old, False)
        assert (await engine.GetSession(session_id=session_id)).session.version == before
