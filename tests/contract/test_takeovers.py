"""CONTRACT 10: a lost run takes the calls that it set RUNNING along, by the database's clock and nobody else's."""

import asyncio
import signal
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from factories import AWAITING_APPROVAL, INTERRUPTED, PENDING, RUNNING, SUCCEEDED, called, said
from lockstitch.v1.run_pb2 import Run
from lockstitch.v1.session_pb2 import SESSION_STATUS_ACTIVE, SESSION_STATUS_EXPIRED
from lockstitch_server.server_process import ServerProcess
from support import holder
from support.databases import Database
from support.rpc import As, Create, Refusal, Rpc, outcome, refusal
from support.running import (
    CANCELLED,
    DONE,
    EXPIRED,
    INTERRUPT,
    JOIN,
    SUPERSEDED,
    Lapse,
    fence_of,
    run_of,
    started,
)

End = Callable[[Rpc, str, Run, Lapse], Awaitable[Any]]


async def _taken_over(engine: Rpc, session_id: str, _: Run, lapse: Lapse) -> Any:
    await lapse(session_id)
    return await engine.StartRun(session_id=session_id)


async def _interrupted(engine: Rpc, session_id: str, _: Run, __: Lapse) -> Any:
    return await engine.StartRun(session_id=session_id, on_busy=INTERRUPT)


async def _cancelled(engine: Rpc, session_id: str, run: Run, _: Lapse) -> Any:
    return await engine.CancelRun(session_id=session_id, run_id=run.run_id, now=True)


async def _closed(engine: Rpc, session_id: str, _: Run, __: Lapse) -> Any:
    return await engine.CloseSession(session_id=session_id, force=True)


async def _closed_when_lapsed(engine: Rpc, session_id: str, _: Run, lapse: Lapse) -> Any:
    await lapse(session_id)
    return await engine.CloseSession(session_id=session_id)


async def _deleted(engine: Rpc, session_id: str, _: Run, __: Lapse) -> Any:
    answer = await engine.DeleteSession(session_id=session_id, force=True)
    await engine.UndeleteSession(session_id=session_id)
    return answer


LOST: dict[str, tuple[End, int]] = {
    "taken over": (_taken_over, EXPIRED),
    "interrupted": (_interrupted, SUPERSEDED),
    "cancelled at once": (_cancelled, CANCELLED),
    "closed by force": (_closed, CANCELLED),
    "closed when lapsed": (_closed_when_lapsed, EXPIRED),
    "deleted by force": (_deleted, CANCELLED),
}
NAMES = ["running", "pending", "waiting", "outside", "message", "settled", "granted"]


@pytest.mark.parametrize("how", LOST)
async def test_to_say_of_a_call_that_was_interrupted_with_its_run_that_it_was_is_no_other_outcome(
    engine: Rpc, create: Create, lapse: Lapse, how: str
) -> None:
    session_id = await create(messages=[called("search")])
    run = await started(engine, session_id)
    await engine.UpdateToolCall(session_id=session_id, fence=fence_of(run), call_id="search", status=RUNNING)
    await LOST[how][0](engine, session_id, run, lapse)
    if "closed" in how:
        await engine.RestoreSession(session_id=session_id)
    version = (await engine.GetSession(session_id=session_id)).session.version
    again = await engine.CompleteToolCall(session_id=session_id, call_id="search", status=INTERRUPTED)
    assert (again.receipt.version, again.tool_call.status) == (version, INTERRUPTED)
    other = engine.CompleteToolCall(session_id=session_id, call_id="search", status=INTERRUPTED, error="no power")
    assert (await refusal(other)).reason == "TOOL_CALL_ENDED"
    settled = await engine.CompleteToolCall(session_id=session_id, call_id="search", result_json="1")
    assert (settled.receipt.version, settled.tool_call.status) == (version + 1, SUCCEEDED)


async def _with_calls(engine: Rpc, user: Rpc, create: Create) -> tuple[str, Run]:
    """Make a session with a run, and calls in every state under it."""
    session_id = await create(messages=[called("message")])
    run = await started(engine, session_id)
    calls = [{"call_id": name, "name": "n", "arguments_json": "{}"} for name in NAMES if name != "message"]
    fence = fence_of(run)
    await engine.Append(session_id=session_id, fence=fence, tool_calls=calls)
    for name in ("running", "message", "settled"):
        await engine.UpdateToolCall(session_id=session_id, fence=fence, call_id=name, status=RUNNING)
    await engine.CompleteToolCall(session_id=session_id, fence=fence, call_id="settled", result_json="1")
    for name in ("waiting", "granted"):
        await engine.UpdateToolCall(session_id=session_id, fence=fence, call_id=name, status=AWAITING_APPROVAL)
    await user.UpdateToolCall(session_id=session_id, call_id="granted", approval={"granted": True})
    await engine.UpdateToolCall(session_id=session_id, call_id="outside", status=RUNNING)
    return session_id, run


async def _statuses(engine: Rpc, session_id: str) -> dict[str, int]:
    calls = (await engine.ListToolCalls(session_id=session_id)).tool_calls
    return {call.call_id: call.status for call in calls}


@pytest.mark.parametrize("how", LOST)
async def test_a_lost_runs_running_calls_are_interrupted_in_the_commit_that_ends_it(
    engine: Rpc, user: Rpc, create: Create, lapse: Lapse, how: str
) -> None:
    session_id, run = await _with_calls(engine, user, create)
    before = await _statuses(engine, session_id)
    end, status = LOST[how]
    answer = await end(engine, session_id, run, lapse)
    ended = await run_of(engine, session_id, run.run_id)
    assert (ended.status, ended.ended_version, bool(ended.error)) == (
        status,
        answer.receipt.version,
        how != "cancelled at once",
    )
    assert ended.end_time == answer.receipt.commit_time
    lost = {"running": INTERRUPTED, "message": INTERRUPTED}
    assert await _statuses(engine, session_id) == before | lost
    assert before == {
        "running": RUNNING,
        "message": RUNNING,
        "pending": PENDING,
        "waiting": AWAITING_APPROVAL,
        "outside": RUNNING,
        "settled": SUCCEEDED,
        "granted": PENDING,
    }
    commits = (await engine.ListCommits(session_id=session_id, after_version=answer.receipt.version - 1)).commits
    assert {call.call_id: call.status for call in commits[0].tool_calls} == lost
    for call in commits[0].tool_calls:
        assert (call.ended_version, call.end_time) == (answer.receipt.version, answer.receipt.commit_time)
        assert (call.result_json, call.result_message_id) == ("", "")
    # One end and no more.
    every = (await engine.ListCommits(session_id=session_id)).commits
    ends = [c.version for c in every if {r.run_id for r in (c.run, c.ended_run) if r.end_time.seconds} == {run.run_id}]
    assert ends == [answer.receipt.version]
    # As it was before, by every read of the past.
    then = await engine.GetSession(
        session_id=session_id, at_version=answer.receipt.version - 1, include_open_tool_calls=True
    )
    assert {call.call_id: call.status for call in then.open_tool_calls} == {
        name: status for name, status in before.items() if status != SUCCEEDED
    }
    assert then.session.active_run_id == run.run_id


async def test_a_run_that_its_holder_ends_leaves_its_calls_as_they_are(engine: Rpc, user: Rpc, create: Create) -> None:
    session_id, run = await _with_calls(engine, user, create)
    before = await _statuses(engine, session_id)
    await engine.FinishRun(session_id=session_id, fence=fence_of(run), status=DONE)
    assert await _statuses(engine, session_id) == before
    # They are not the next run's, whose loss leaves them alone.
    await started(engine, session_id)
    await started(engine, session_id, on_busy=INTERRUPT)
    assert await _statuses(engine, session_id) == before


async def test_a_call_belongs_to_the_run_that_set_it_running(engine: Rpc, create: Create, lapse: Lapse) -> None:
    session_id = await create(messages=[called("a", "b")])
    first = await started(engine, session_id)
    await engine.UpdateToolCall(session_id=session_id, fence=fence_of(first), call_id="a", status=RUNNING)
    await lapse(session_id)
    second = await started(engine, session_id)
    await engine.UpdateToolCall(session_id=session_id, fence=fence_of(second), call_id="b", status=RUNNING)
    assert await _statuses(engine, session_id) == {"a": INTERRUPTED, "b": RUNNING}
    # A late result of the first run's call comes under the second run, or from outside.
    late = await engine.CompleteToolCall(session_id=session_id, fence=fence_of(second), call_id="a", result_json="1")
    assert (late.tool_call.status, late.tool_call.run_id) == (SUCCEEDED, "")
    await lapse(session_id)
    await started(engine, session_id)
    assert await _statuses(engine, session_id) == {"a": SUCCEEDED, "b": INTERRUPTED}
    refused = await refusal(
        engine.CompleteToolCall(session_id=session_id, fence=fence_of(second), call_id="b", result_json="1")
    )
    assert refused.reason == "RUN_FENCED"
    await engine.CompleteToolCall(session_id=session_id, call_id="b", result_json="1")


async def _take_over(engine: Rpc, session_id: str) -> Any:
    """Start a run as soon as nobody holds a live lease."""
    async with asyncio.timeout(20):
        while isinstance(told := await outcome(engine.StartRun(session_id=session_id)), Refusal):
            assert told.reason == "RUN_ACTIVE"
            await asyncio.sleep(0.02)
    return told


async def test_a_real_lease_lapses_and_is_taken_over(engines: tuple[Rpc, Rpc], create: Create) -> None:
    session_id = await create()
    run = await started(engines[0], session_id, lease={"seconds": 1})
    answer = await _take_over(engines[1], session_id)
    assert answer.run.start_time.ToNanoseconds() >= run.lease_expire_time.ToNanoseconds()
    assert (await run_of(engines[0], session_id, run.run_id)).status == EXPIRED


async def test_a_holder_that_was_stopped_beyond_its_lease_wakes_up_fenced(
    engine: Rpc, call_as: As, create: Create, shared_servers: tuple[ServerProcess, ServerProcess], tenant: str
) -> None:
    session_id = await create()
    run = await started(engine, session_id, lease={"seconds": 1})
    server = shared_servers[0]
    process = holder.start(server.target, server.token(tenant=tenant, user="holder"), run)
    try:
        assert process.stdout is not None
        assert (await asyncio.to_thread(process.stdout.readline)).startswith("stored")
        process.send_signal(signal.SIGSTOP)
        taken = await _take_over(call_as("e2", "engine", server=1), session_id)
        process.send_signal(signal.SIGCONT)
        *stored, last = (await asyncio.to_thread(process.communicate, timeout=60))[0].split("\n")[:-1]
    finally:
        process.kill()
        process.wait()
    assert last == "refused RUN_FENCED"
    versions = [int(line.removeprefix("stored ")) for line in stored]
    assert all(version < taken.receipt.version for version in versions)
    commits = (await engine.ListCommits(session_id=session_id, after_version=taken.receipt.version)).commits
    assert [commit.version for commit in commits] == []
    assert (await engine.GetSession(session_id=session_id)).session.active_run_id == taken.run.run_id


async def test_a_run_that_is_renewed_in_time_is_never_taken_over(engines: tuple[Rpc, Rpc], create: Create) -> None:
    session_id = await create()
    run = await started(engines[0], session_id, lease={"seconds": 3})
    until = run.lease_expire_time
    while until.ToNanoseconds() < run.lease_expire_time.ToNanoseconds() + 3 * 10**9:
        until = (
            await engines[0].RenewRun(session_id=session_id, fence=fence_of(run), lease={"seconds": 3})
        ).run.lease_expire_time
        assert (await refusal(engines[1].StartRun(session_id=session_id))).reason == "RUN_ACTIVE"
    joined = await started(engines[1], session_id, on_busy=JOIN)
    assert joined.fencing_token == run.fencing_token


async def test_renewing_is_no_commit_and_no_activity(engine: Rpc, create: Create) -> None:
    session_id = await create(idle_ttl={"seconds": 3600}, messages=[said("hi")])
    run = await started(engine, session_id)
    before = (await engine.GetSession(session_id=session_id)).session
    for seconds in (60, 1, 3600):
        renewed = (await engine.RenewRun(session_id=session_id, fence=fence_of(run), lease={"seconds": seconds})).run
        assert await run_of(engine, session_id, run.run_id) == renewed
        renewed.lease_expire_time.CopyFrom(run.lease_expire_time)
        assert renewed == run
    assert (await engine.GetSession(session_id=session_id)).session == before
    assert len((await engine.ListCommits(session_id=session_id)).commits) == before.version


async def test_a_session_that_was_idle_without_its_lease_is_not_renewed_back_to_life(
    engines: tuple[Rpc, Rpc], create: Create, lapse: Lapse, shared_database: Database, tenant: str
) -> None:
    session_id = await create(idle_ttl={"seconds": 3600})
    run = await started(engines[0], session_id)
    await shared_database.as_superuser(
        "update lockstitch.sessions set last_activity_time = last_activity_time - interval '1 h' where tenant_id = $1",
        tenant,
    )
    assert (await engines[0].GetSession(session_id=session_id)).session.status == SESSION_STATUS_ACTIVE
    await engines[0].RenewRun(session_id=session_id, fence=fence_of(run))
    await lapse(session_id)
    for engine in engines:
        refused = await refusal(engine.RenewRun(session_id=session_id, fence=fence_of(run)))
        assert refused.reason == "SESSION_EXPIRED"
        assert (await refusal(engine.StartRun(session_id=session_id))).reason == "SESSION_EXPIRED"
        assert (await engine.GetSession(session_id=session_id)).session.status == SESSION_STATUS_EXPIRED
    # With a new life its run goes on, since nobody took over.
    await engines[0].RestoreSession(session_id=session_id, ttl={"seconds": 3600})
    renewed = (await engines[1].RenewRun(session_id=session_id, fence=fence_of(run))).run
    assert (renewed.run_id, renewed.fencing_token) == (run.run_id, run.fencing_token)
    await engines[1].Append(session_id=session_id, fence=fence_of(run), messages=[said("on")])
