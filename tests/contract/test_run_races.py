"""CONTRACT 10: a run ends once, however many end it at once, and nothing of it goes on behind its end."""

import asyncio
from collections.abc import Awaitable
from typing import Any

from factories import INTERRUPTED, PENDING, RUNNING, called, said
from support.rpc import Create, Refusal, Rpc, outcome
from support.running import ACTIVE, CANCELLED, DONE, FAILED, INTERRUPT, Lapse, fence_of, run_of, started

WHAT_LOSERS_ARE_TOLD = {"RUN_ENDED", "RUN_FENCED", "SESSION_CLOSED", "SESSION_DELETED", "RUN_ACTIVE"}


async def _ends_of(engine: Rpc, session_id: str, run_id: str) -> list[int]:
    """Give the versions of the commits that say that a run ended."""
    commits = (await engine.ListCommits(session_id=session_id, page_size=1000)).commits
    told = [(commit.version, run) for commit in commits for run in (commit.run, commit.ended_run)]
    return [version for version, run in told if run.run_id == run_id and run.status not in {0, ACTIVE}]


async def test_a_run_that_everybody_ends_at_once_ends_once(engines: tuple[Rpc, Rpc], create: Create) -> None:
    one, two = engines
    statuses = set()
    for number in range(12):
        session_id = await create()
        run = await started(one, session_id)
        fence = fence_of(run)
        calls: list[Awaitable[Any]] = [
            one.FinishRun(session_id=session_id, fence=fence, status=DONE),
            two.FinishRun(session_id=session_id, fence=fence, status=FAILED, error="e"),
            two.Append(session_id=session_id, fence=fence, messages=[said("bye")], finish_run={"status": CANCELLED}),
            one.CancelRun(session_id=session_id, run_id=run.run_id, now=True),
            two.StartRun(session_id=session_id, run_id="next", on_busy=INTERRUPT),
            one.CloseSession(session_id=session_id, force=True),
        ]
        # Each of them comes first now and then.
        order = calls[number % len(calls) :] + calls[: number % len(calls)]
        told = await asyncio.gather(*(outcome(call) for call in order))
        assert {answer.reason for answer in told if isinstance(answer, Refusal)} <= WHAT_LOSERS_ARE_TOLD
        await one.RestoreSession(session_id=session_id)
        ended = await run_of(two, session_id, run.run_id)
        assert await _ends_of(one, session_id, run.run_id) == [ended.ended_version]
        assert ended.status != ACTIVE
        statuses.add(ended.status)
        session = (await one.GetSession(session_id=session_id)).session
        last = (await two.GetContext(session_id=session_id)).last_run
        assert session.active_run_id == (last.run_id if last.status == ACTIVE else "")
        assert len((await one.ListCommits(session_id=session_id)).commits) == session.version
    assert len(statuses) > 1


async def test_no_call_is_set_running_behind_the_loss_of_its_run(
    engines: tuple[Rpc, Rpc], create: Create, lapse: Lapse
) -> None:
    for number in range(10):
        session_id = await create(messages=[called("a", "b", "c", "d")])
        run = await started(engines[0], session_id)

        async def begin(place: int, call_id: str, session_id: str = session_id, fence: Any = fence_of(run)) -> Any:  # noqa: B008
            return await outcome(
                engines[place % 2].UpdateToolCall(session_id=session_id, fence=fence, call_id=call_id, status=RUNNING)
            )

        async def take_over(session_id: str = session_id) -> Any:
            await lapse(session_id)
            return await engines[1].StartRun(session_id=session_id)

        every = [begin(place, call_id) for place, call_id in enumerate("abcd")]
        every.insert(number % 5, take_over())
        told = await asyncio.gather(*every)
        assert told.pop(number % 5).run.fencing_token == 2
        calls = (await engines[0].ListToolCalls(session_id=session_id)).tool_calls
        for answer, call in zip(told, calls, strict=True):
            assert call.status == (PENDING if isinstance(answer, Refusal) else INTERRUPTED)


async def test_what_is_asked_to_end_while_it_ends_is_asked_or_told_that_it_ended(
    engines: tuple[Rpc, Rpc], user: Rpc, create: Create
) -> None:
    for _ in range(10):
        session_id = await create()
        run = await started(engines[0], session_id)
        asked, finished = await asyncio.gather(
            outcome(user.CancelRun(session_id=session_id, run_id=run.run_id)),
            outcome(engines[1].FinishRun(session_id=session_id, fence=fence_of(run), status=DONE)),
        )
        assert finished.run.status == DONE
        if isinstance(asked, Refusal):
            assert asked.reason == "RUN_ENDED"
        assert finished.run.cancel_requested is not isinstance(asked, Refusal)
        assert await run_of(user, session_id, run.run_id) == finished.run


async def test_renewals_at_once_are_all_granted_and_the_last_counts(engines: tuple[Rpc, Rpc], create: Create) -> None:
    session_ids = [await create() for _ in range(10)]
    runs = [await started(engines[0], session_id) for session_id in session_ids]
    renewed = await asyncio.gather(
        *(
            engines[number % 2].RenewRun(session_id=run.session_id, fence=fence_of(run), lease={"seconds": 60 + number})
            for number in range(6)
            for run in runs
        )
    )
    for place, run in enumerate(runs):
        own = [answer.run for answer in renewed[place :: len(runs)]]
        assert {answer.run_id for answer in own} == {run.run_id}
        assert await run_of(engines[1], run.session_id, run.run_id) in own
