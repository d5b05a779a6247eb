"""CONTRACT 10: one run a session at a time, by a lease and a token that rises with every grant."""

import asyncio
from typing import Any

import pytest

from factories import said
from support.rpc import Create, Refusal, Rpc, as_replayed, field_refused, outcome, refusal
from support.running import (
    ACTIVE,
    BUSY,
    DONE,
    ENDED,
    EXPIRED,
    FAILED,
    FENCED,
    INTERRUPT,
    JOIN,
    REJECT,
    SUPERSEDED,
    Lapse,
    fence_of,
    run_of,
    started,
    version_of,
)

HOUR = 3600


async def test_a_run_is_what_was_asked_for_and_stands_in_its_commit(engine: Rpc, create: Create) -> None:
    session_id = await create()
    answer = await engine.StartRun(
        session_id=session_id, run_id="r", worker="w-7", lease={"seconds": 90}, labels={"a": "1"}
    )
    run = answer.run
    assert (run.run_id, run.session_id, run.status, run.worker) == ("r", session_id, ACTIVE, "w-7")
    assert (run.fencing_token, dict(run.labels), run.started_version, run.ended_version) == (1, {"a": "1"}, 2, 0)
    assert (run.cancel_requested, run.error, run.HasField("end_time")) == (False, "", False)
    assert run.start_time == answer.receipt.commit_time
    assert run.lease_expire_time.ToNanoseconds() == run.start_time.ToNanoseconds() + 90 * 10**9
    assert await run_of(engine, session_id, "r") == run
    session = (await engine.GetSession(session_id=session_id)).session
    assert (session.active_run_id, session.version) == ("r", 2)
    assert session.last_activity_time == run.start_time
    (commit,) = (await engine.ListCommits(session_id=session_id, after_version=1)).commits
    assert (commit.run, commit.HasField("ended_run"), commit.run_id) == (run, False, "")


async def test_a_run_without_an_id_gets_one_that_its_retry_names_again(
    engines: tuple[Rpc, Rpc], create: Create
) -> None:
    session_id = await create()
    first = await engines[0].StartRun(session_id=session_id, request_id="r-1")
    again = await engines[1].StartRun(session_id=session_id, request_id="r-1")
    assert first.run.run_id.startswith("run_")
    assert (again.run, again.receipt) == (first.run, as_replayed(first.receipt))
    assert first.run.lease_expire_time.ToNanoseconds() == first.run.start_time.ToNanoseconds() + 30 * 10**9
    await engines[0].FinishRun(session_id=session_id, fence=fence_of(first.run), status=DONE)
    other = await started(engines[0], await create(), request_id="r-1")
    later = await started(engines[0], session_id, request_id="r-2")
    assert len({first.run.run_id, other.run_id, later.run_id}) == 3


async def test_a_token_rises_with_every_grant_and_is_never_given_again(
    engine: Rpc, create: Create, lapse: Lapse
) -> None:
    session_id = await create()
    tokens = []

    async def grant(**fields: Any) -> Any:
        run = await started(engine, session_id, **fields)
        tokens.append(run.fencing_token)
        return run

    run = await grant()
    await engine.FinishRun(session_id=session_id, fence=fence_of(run), status=DONE)
    await grant()
    assert (await refusal(engine.StartRun(session_id=session_id))).what == BUSY
    run = await grant(on_busy=INTERRUPT)
    assert (await started(engine, session_id, on_busy=JOIN)).fencing_token == run.fencing_token
    await engine.FinishRun(session_id=session_id, fence=fence_of(run), status=FAILED)
    await engine.CloseSession(session_id=session_id)
    await engine.RestoreSession(session_id=session_id)
    run = await grant()
    await lapse(session_id)
    run = await grant()
    await engine.CancelRun(session_id=session_id, run_id=run.run_id, now=True)
    await engine.DeleteSession(session_id=session_id)
    await engine.UndeleteSession(session_id=session_id)
    await grant()
    await engine.DeleteSession(session_id=session_id, force=True)
    await engine.UndeleteSession(session_id=session_id)
    await grant()
    assert tokens == list(range(1, 8))


async def test_a_busy_session_refuses_and_says_who_is_at_it_until_when(
    engines: tuple[Rpc, Rpc], create: Create
) -> None:
    session_id = await create()
    run = await started(engines[0], session_id)
    before = await version_of(engines[0], session_id)
    for fields in ({}, {"on_busy": REJECT}, {"run_id": run.run_id}, {"expected_version": 77}):
        refused = await refusal(engines[1].StartRun(session_id=session_id, **fields))
        assert refused.what == BUSY
        until = refused.metadata["lease_expire_time"]
        assert refused.metadata == {"run_id": run.run_id, "lease_expire_time": until}
        assert until[:19] == run.lease_expire_time.ToDatetime().isoformat()[:19]
    renewed = (await engines[0].RenewRun(session_id=session_id, fence=fence_of(run), lease={"seconds": HOUR})).run
    refused = await refusal(engines[1].StartRun(session_id=session_id))
    assert refused.metadata["lease_expire_time"][:19] == renewed.lease_expire_time.ToDatetime().isoformat()[:19]
    assert await version_of(engines[0], session_id) == before


async def test_joining_gives_the_active_run_and_its_token_and_makes_no_commit(
    engines: tuple[Rpc, Rpc], create: Create
) -> None:
    session_id = await create()
    run = await started(engines[0], session_id, lease={"seconds": 40})
    renewed = (await engines[0].RenewRun(session_id=session_id, fence=fence_of(run), lease={"seconds": HOUR})).run
    before = (await engines[0].GetSession(session_id=session_id)).session
    for fields in ({}, {"run_id": "another"}, {"run_id": run.run_id}, {"request_id": "j"}, {"request_id": "j"}):
        joined = await engines[1].StartRun(session_id=session_id, on_busy=JOIN, **fields)
        assert joined.run == renewed
        assert (joined.receipt.version, joined.receipt.replayed) == (before.version, False)
    conflict = await refusal(engines[1].StartRun(session_id=session_id, on_busy=JOIN, expected_version=1))
    assert conflict.reason == "VERSION_CONFLICT"
    assert (await engines[0].GetSession(session_id=session_id)).session == before
    await engines[1].Append(session_id=session_id, fence=fence_of(renewed), messages=[said("together")])
    # With nobody there the same request starts one.
    await engines[0].FinishRun(session_id=session_id, fence=fence_of(run), status=DONE)
    own = await engines[1].StartRun(session_id=session_id, on_busy=JOIN, request_id="j")
    assert (own.run.fencing_token, own.run.started_version) == (2, own.receipt.version)


async def test_interrupting_ends_the_old_run_in_the_commit_that_starts_the_new(
    engines: tuple[Rpc, Rpc], create: Create
) -> None:
    session_id = await create()
    old = await started(engines[0], session_id)
    answer = await engines[1].StartRun(session_id=session_id, run_id="new", on_busy=INTERRUPT)
    assert (answer.run.run_id, answer.run.fencing_token, answer.receipt.version) == ("new", 2, 3)
    ended = await run_of(engines[0], session_id, old.run_id)
    assert (ended.status, ended.ended_version, ended.end_time) == (SUPERSEDED, 3, answer.receipt.commit_time)
    assert ended.error
    (commit,) = (await engines[0].ListCommits(session_id=session_id, after_version=2)).commits
    assert (commit.run, commit.ended_run.run_id, commit.ended_run.status) == (answer.run, old.run_id, SUPERSEDED)
    assert (await engines[0].GetSession(session_id=session_id)).session.active_run_id == "new"
    refused = await refusal(engines[0].Append(session_id=session_id, fence=fence_of(old), messages=[said("late")]))
    assert (refused.what, refused.metadata) == (FENCED, {"run_id": old.run_id})


@pytest.mark.parametrize("on_busy", [REJECT, JOIN, INTERRUPT])
async def test_a_lapsed_run_is_taken_over_whatever_on_busy_says(
    engine: Rpc, create: Create, lapse: Lapse, on_busy: int
) -> None:
    session_id = await create()
    old = await started(engine, session_id)
    await lapse(session_id)
    new = await started(engine, session_id, on_busy=on_busy)
    assert (new.fencing_token, new.started_version) == (2, 3)
    ended = await run_of(engine, session_id, old.run_id)
    assert (ended.status, ended.ended_version) == (EXPIRED, 3)
    assert "lease" in ended.error


async def test_a_run_id_is_used_once_in_its_session(engine: Rpc, create: Create) -> None:
    session_id = await create()
    run = await started(engine, session_id, run_id="mine")
    told = engine.StartRun(session_id=session_id, run_id="mine", on_busy=INTERRUPT)
    assert await field_refused(told) == "run_id"
    assert (await run_of(engine, session_id, "mine")).status == ACTIVE
    await engine.FinishRun(session_id=session_id, fence=fence_of(run), status=DONE)
    refused = await refusal(engine.StartRun(session_id=session_id, run_id="mine"))
    assert (refused.what, refused.metadata) == (ENDED, {"run_id": "mine"})
    await started(engine, session_id, run_id="Mine")
    await started(engine, await create(), run_id="mine")


async def test_of_starters_at_once_on_two_servers_exactly_one_wins(engines: tuple[Rpc, Rpc], create: Create) -> None:
    session_id = await create()
    for token in range(1, 6):
        answers = await asyncio.gather(
            *(
                outcome(engines[n % 2].StartRun(session_id=session_id, run_id=f"{token}/{n}", worker=str(n)))
                for n in range(12)
            )
        )
        (won,) = [answer for answer in answers if not isinstance(answer, Refusal)]
        refused = [answer for answer in answers if isinstance(answer, Refusal)]
        assert {(each.what, each.metadata["run_id"]) for each in refused} == {(BUSY, won.run.run_id)}
        assert (won.run.fencing_token, won.receipt.version) == (token, token * 2)
        await engines[0].FinishRun(session_id=session_id, fence=fence_of(won.run), status=DONE)
    assert len((await engines[0].ListRuns(session_id=session_id)).runs) == 5


async def test_of_takeovers_at_once_on_two_servers_exactly_one_wins(
    engines: tuple[Rpc, Rpc], create: Create, lapse: Lapse
) -> None:
    session_id = await create()
    for token in range(2, 7):
        await started(engines[0], session_id, on_busy=JOIN)
        await lapse(session_id)
        answers = await asyncio.gather(*(outcome(engines[n % 2].StartRun(session_id=session_id)) for n in range(8)))
        (won,) = [answer for answer in answers if not isinstance(answer, Refusal)]
        assert won.run.fencing_token == token
    statuses = [run.status for run in (await engines[0].ListRuns(session_id=session_id)).runs]
    assert statuses == [ACTIVE] + [EXPIRED] * 5


async def test_of_interrupters_at_once_each_ends_the_one_before(engines: tuple[Rpc, Rpc], create: Create) -> None:
    session_id = await create()
    answers = await asyncio.gather(
        *(engines[n % 2].StartRun(session_id=session_id, on_busy=INTERRUPT) for n in range(10))
    )
    assert sorted(answer.run.fencing_token for answer in answers) == list(range(1, 11))
    statuses = [run.status for run in (await engines[0].ListRuns(session_id=session_id)).runs]
    assert statuses == [ACTIVE] + [SUPERSEDED] * 9
