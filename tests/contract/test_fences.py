"""CONTRACT 10: whoever was the holder once changes nothing any more, by any call that has a fence."""

import asyncio
from typing import Any

import grpc
import pytest

from factories import ASSISTANT, called, fresh, replaced, said
from lockstitch.v1.message_pb2 import Message
from lockstitch.v1.run_pb2 import Fence, Run
from support.every_change import CHANGES, RUN, prepared, ready_for
from support.rpc import Create, Refusal, Rpc, as_replayed, field_refused, outcome, refusal
from support.running import (
    DONE,
    ENDED,
    FENCED,
    INTERRUPT,
    NO_RUN,
    UNDER_A_FENCE,
    Lapse,
    drafted,
    fence_of,
    run_of,
    started,
    version_of,
)

CHANGES_UNDER_A_FENCE = [name for name in UNDER_A_FENCE if name in CHANGES]


async def _lost_run(engine: Rpc, create: Create, lapse: Lapse) -> tuple[str, Run, Run]:
    """Make a session whose first run was taken over: its id, the old run, the new one."""
    session_id = await prepared(create)
    old = await started(engine, session_id, run_id="old")
    await lapse(session_id)
    return session_id, old, await started(engine, session_id, run_id="new")


async def _stored(engine: Rpc, session_id: str) -> list[Any]:
    """Give all that a write could have left."""
    return [
        (await engine.GetSession(session_id=session_id)).session,
        *(await engine.ListMessages(session_id=session_id)).messages,
        *(await engine.ListToolCalls(session_id=session_id)).tool_calls,
        *(await engine.ListRuns(session_id=session_id)).runs,
        (await engine.GetMemory(session_id=session_id)).memory,
        (await engine.GetMemory(session_id=session_id, run_id="new")).memory,
    ]


@pytest.mark.parametrize("name", UNDER_A_FENCE)
async def test_a_fence_that_does_not_hold_lets_nothing_through(
    engines: tuple[Rpc, Rpc], create: Create, lapse: Lapse, name: str
) -> None:
    engine, other = engines
    session_id, old, new = await _lost_run(engine, create, lapse)
    elsewhere = await create()
    for run_id in ("elsewhere", "new", "new2", "new3"):
        await started(engine, elsewhere, run_id=run_id, on_busy=INTERRUPT)
    stranger = await started(engine, elsewhere, on_busy=INTERRUPT)
    before = await _stored(engine, session_id)
    for fence, expected in (
        (fence_of(old), FENCED),
        (fence_of(old, token=new.fencing_token), FENCED),
        (fence_of(old, token=77), FENCED),
        (fence_of(new, token=old.fencing_token), FENCED),
        (fence_of(new, token=new.fencing_token + 1), FENCED),
        (fence_of(new, token=2**63 - 1), FENCED),
        (fence_of(new, run_id="never-was"), NO_RUN),
        (fence_of(new, run_id="New"), NO_RUN),
        (Fence(run_id="elsewhere", fencing_token=1), NO_RUN),
        (fence_of(stranger), NO_RUN),
        (fence_of(new, token=stranger.fencing_token), FENCED),
    ):
        for caller in (engine, other):
            refused = await refusal(UNDER_A_FENCE[name](caller, session_id, fence))
            assert refused.what == expected, fence
            assert refused.metadata == ({"run_id": fence.run_id} if expected == FENCED else {})
    assert await _stored(engine, session_id) == before
    await UNDER_A_FENCE[name](other, session_id, fence_of(new))


@pytest.mark.parametrize("name", UNDER_A_FENCE)
@pytest.mark.parametrize("next_run", [False, True])
async def test_a_run_that_ended_by_itself_has_ended_and_was_not_fenced(
    engine: Rpc, create: Create, name: str, *, next_run: bool
) -> None:
    session_id = await prepared(create)
    run = await started(engine, session_id, run_id="new")
    await engine.FinishRun(session_id=session_id, fence=fence_of(run), status=DONE)
    if next_run:
        await started(engine, session_id)
    before = await _stored(engine, session_id)
    refused = await refusal(UNDER_A_FENCE[name](engine, session_id, fence_of(run)))
    assert (refused.what, refused.metadata) == (ENDED, {"run_id": "new"})
    assert (await refusal(UNDER_A_FENCE[name](engine, session_id, fence_of(run, token=77)))).what == FENCED
    assert await _stored(engine, session_id) == before


@pytest.mark.parametrize("name", UNDER_A_FENCE)
async def test_a_lapsed_lease_refuses_its_holder_nothing_by_itself(
    engine: Rpc, create: Create, lapse: Lapse, name: str
) -> None:
    session_id = await prepared(create)
    run = await started(engine, session_id, run_id="new")
    await lapse(session_id)
    await UNDER_A_FENCE[name](engine, session_id, fence_of(run))


@pytest.mark.parametrize("name", CHANGES_UNDER_A_FENCE)
async def test_a_replay_comes_before_the_fence(
    engines: tuple[Rpc, Rpc], create: Create, lapse: Lapse, name: str
) -> None:
    session_id = await ready_for(name, engines[0], create)
    if not (await engines[0].GetSession(session_id=session_id)).session.active_run_id:
        await started(engines[0], session_id, run_id=RUN["run_id"])
    request = CHANGES[name].on(session_id)
    request.fence.CopyFrom(Fence(run_id="run-1", fencing_token=1))
    first = await engines[0].send(request)
    await lapse(session_id)
    await started(engines[0], session_id)
    before = await version_of(engines[0], session_id)
    again = await engines[1].send(request)
    assert again.receipt == as_replayed(first.receipt)
    assert await version_of(engines[0], session_id) == before


async def test_a_drafts_replay_comes_before_the_fence_and_the_fence_before_versions(
    engines: tuple[Rpc, Rpc], create: Create, lapse: Lapse
) -> None:
    session_id = await create()
    run = await started(engines[0], session_id)
    first = await drafted(engines[0], session_id=session_id, fence=fence_of(run))
    await lapse(session_id)
    await started(engines[0], session_id)
    again = await drafted(engines[1], session_id=session_id, fence=fence_of(run))
    assert again.receipt == as_replayed(first.receipt)
    late = drafted(engines[1], session_id=session_id, fence=fence_of(run), request_id="d2", expected_version=77)
    assert (await refusal(late)).what == FENCED


@pytest.mark.parametrize("name", UNDER_A_FENCE)
async def test_a_fence_that_is_none_is_refused_by_name(engine: Rpc, create: Create, name: str) -> None:
    session_id = await prepared(create)
    run = await started(engine, session_id, run_id="new")
    before = await _stored(engine, session_id)
    for field, fence in (
        ("fence.run_id", Fence(fencing_token=1)),
        ("fence.run_id", fence_of(run, run_id="x" * 129)),
        ("fence.run_id", fence_of(run, run_id="a\nb")),
        ("fence.fencing_token", Fence(run_id="new")),
        ("fence.fencing_token", fence_of(run, token=-1)),
        ("fence.fencing_token", fence_of(run, token=-(2**63))),
    ):
        assert await field_refused(UNDER_A_FENCE[name](engine, session_id, fence)) == field
    assert await _stored(engine, session_id) == before


@pytest.mark.parametrize("name", UNDER_A_FENCE)
async def test_a_user_holds_no_run(engine: Rpc, user: Rpc, create: Create, name: str) -> None:
    session_id = await prepared(create)
    run = await started(engine, session_id, run_id="new")
    refused = await refusal(UNDER_A_FENCE[name](user, session_id, fence_of(run)))
    assert refused.what == (grpc.StatusCode.PERMISSION_DENIED, "ROLE_NOT_ALLOWED")
    said_plainly = user.Append(session_id=session_id, messages=[said("hi")], fence=fence_of(run))
    refused = await refusal(said_plainly)
    assert (refused.reason, refused.field) == ("ROLE_NOT_ALLOWED", "fence")


@pytest.mark.parametrize(
    "change",
    [replaced(goal="new"), {"set": {"memory": {"goal": "new"}, "update_mask": {"paths": ["goal"]}}}],
    ids=["replace", "set"],
)
async def test_a_fence_guards_memory_in_place_of_a_version(engine: Rpc, create: Create, change: Any) -> None:
    session_id = await create(memory={"goal": "old"})
    run = await started(engine, session_id)
    bare = await refusal(engine.UpdateMemory(session_id=session_id, change=change))
    assert bare.reason == "EXPECTED_VERSION_REQUIRED"
    await engine.UpdateMemory(session_id=session_id, change=change, fence=fence_of(run))
    await engine.UpdateMemory(session_id=session_id, change=replaced(goal="x"), force=True)
    receipt = (await engine.Append(session_id=session_id, memory_change=change, fence=fence_of(run))).receipt
    assert receipt.memory_version == receipt.version
    # A version that is given beside it is compared all the same.
    late = engine.UpdateMemory(
        session_id=session_id, change=replaced(goal="y"), fence=fence_of(run), expected_memory_version=1
    )
    assert (await refusal(late)).reason == "VERSION_CONFLICT"


@pytest.mark.parametrize("field", ["labels", "metadata_json"])
async def test_a_fence_guards_a_sessions_labels_and_metadata(engine: Rpc, create: Create, field: str) -> None:
    session_id = await create()
    run = await started(engine, session_id)
    new = {"session_id": session_id, "labels": {"a": "b"}, "metadata_json": "1"}
    bare = await refusal(engine.UpdateSession(session=new, update_mask={"paths": [field]}))
    assert bare.reason == "EXPECTED_VERSION_REQUIRED"
    answer = await engine.UpdateSession(session=new, update_mask={"paths": [field]}, fence=fence_of(run))
    assert answer.session.active_run_id == run.run_id
    (commit,) = (await engine.ListCommits(session_id=session_id, after_version=2)).commits
    assert commit.run_id == run.run_id


async def test_what_is_stored_under_a_run_says_so_whatever_the_sender_says(
    engine: Rpc, user: Rpc, create: Create
) -> None:
    session_id = await create()
    run = await started(engine, session_id)
    liar = Message(role=ASSISTANT, parts=said("by the run").parts, run_id="somebody's")
    await engine.Append(session_id=session_id, fence=fence_of(run), messages=[liar, called("c1")])
    await engine.Append(session_id=session_id, messages=[said("outside", run_id=run.run_id)])
    await user.Append(session_id=session_id, messages=[said("a user's", run_id=run.run_id)])
    await engine.CompleteToolCall(session_id=session_id, fence=fence_of(run), call_id="c1", result_json="1")
    await drafted(engine, session_id=session_id, fence=fence_of(run), message={"run_id": "somebody's"})

    messages = (await engine.ListMessages(session_id=session_id)).messages
    assert [message.run_id for message in messages] == [run.run_id, run.run_id, "", "", run.run_id, run.run_id]
    commits = (await engine.ListCommits(session_id=session_id, after_version=2)).commits
    assert [commit.run_id for commit in commits] == [run.run_id, "", "", run.run_id, run.run_id]
    (call,) = (await engine.ListToolCalls(session_id=session_id, run_id=run.run_id)).tool_calls
    assert call.run_id == run.run_id
    of_the_run = (await engine.ListMessages(session_id=session_id, run_id=run.run_id)).messages
    assert [message.seq for message in of_the_run] == [1, 2, 5, 6]
    assert not (await engine.ListMessages(session_id=session_id, run_id="somebody's")).messages


async def test_writers_outside_the_run_append_meanwhile_and_break_nothing(
    engines: tuple[Rpc, Rpc], user: Rpc, create: Create
) -> None:
    session_id = await create()
    run = await started(engines[0], session_id)
    for number in range(3):
        await user.Append(session_id=session_id, messages=[said("a second tab")])
        seen = await version_of(user, session_id)
        await engines[1].Append(session_id=session_id, expected_version=seen, messages=[said("a webhook")])
        await engines[0].Append(session_id=session_id, fence=fence_of(run), messages=[said(f"the run {number}")])
        await engines[0].RenewRun(session_id=session_id, fence=fence_of(run))
    stale = engines[0].Append(session_id=session_id, fence=fence_of(run), expected_version=2, messages=[said("x")])
    assert (await refusal(stale)).reason == "VERSION_CONFLICT"
    await engines[0].FinishRun(session_id=session_id, fence=fence_of(run), status=DONE)
    assert (await user.GetSession(session_id=session_id)).session.message_count == 9


async def test_no_renewal_of_a_lapsed_lease_and_a_takeover_of_it_both_win(
    engines: tuple[Rpc, Rpc], create: Create, lapse: Lapse
) -> None:
    session_id = await create()
    run = await started(engines[0], session_id)
    won = set()
    for number in range(40):
        await lapse(session_id)
        calls = [
            *(engines[n % 2].RenewRun(session_id=session_id, fence=fence_of(run)) for n in range(3)),
            *(engines[n % 2].StartRun(session_id=session_id) for n in range(3)),
        ]
        # Now those first, now these.
        order = calls if number % 2 else calls[::-1]
        told = await asyncio.gather(*(outcome(call) for call in order))
        answers = told if number % 2 else told[::-1]
        renewed = [answer for answer in answers[:3] if not isinstance(answer, Refusal)]
        taken = [answer for answer in answers[3:] if not isinstance(answer, Refusal)]
        assert len(taken) <= 1
        assert bool(renewed) != bool(taken), answers
        won.add("taken" if taken else "renewed")
        if taken:
            assert {answer.reason for answer in answers[:3]} == {"RUN_FENCED"}
            run = taken[0].run
        else:
            assert {answer.reason for answer in answers[3:]} == {"RUN_ACTIVE"}
            assert await run_of(engines[1], session_id, run.run_id) == renewed[-1].run or len(renewed) > 1
    assert won == {"taken", "renewed"}


async def test_no_write_of_a_lost_run_stands_behind_the_takeover(
    engines: tuple[Rpc, Rpc], create: Create, lapse: Lapse
) -> None:
    session_id = await create()
    for _ in range(8):
        run = await started(engines[0], session_id, on_busy=INTERRUPT)

        async def write(number: int, run: Run = run) -> Any:
            return await outcome(
                engines[number % 2].Append(session_id=session_id, fence=fence_of(run), messages=[said(fresh())])
            )

        async def take_over() -> Any:
            await lapse(session_id)
            return await engines[1].StartRun(session_id=session_id)

        *writes, taken = await asyncio.gather(*(write(number) for number in range(6)), take_over())
        late = [await write(number) for number in range(2)]
        refused = [told for told in (*writes, *late) if isinstance(told, Refusal)]
        assert {told.reason for told in refused} == {"RUN_FENCED"}
        assert all(isinstance(told, Refusal) for told in late)
        stored = [told.receipt.version for told in writes if not isinstance(told, Refusal)]
        assert all(version < taken.receipt.version for version in stored)
        commits = (await engines[0].ListCommits(session_id=session_id, page_size=1000)).commits
        under = [commit.version for commit in commits if commit.run_id == run.run_id]
        assert under == sorted(stored)
        (end,) = [commit for commit in commits if commit.ended_run.run_id == run.run_id]
        assert end.version == taken.receipt.version
