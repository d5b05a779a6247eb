"""Case A08: a session whose engine and server died in the middle of a run is not busy for ever."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from factories import INTERRUPTED, RUNNING, SUCCEEDED, called, said
from lockstitch.v1.run_pb2 import Run
from lockstitch_server.server_process import ServerProcess
from support import holder
from support.databases import Database
from support.rpc import As, Create, Refusal, Rpc, outcome, refusal
from support.running import (
    ACTIVE,
    BUSY,
    CANCELLED,
    DONE,
    EXPIRED,
    FAILED,
    INTERRUPT,
    JOIN,
    SUPERSEDED,
    fence_of,
    run_of,
    started,
)


@dataclass(frozen=True, slots=True)
class Crashed:
    """A session whose engine and server were killed in mid-run, as a new engine finds it."""

    engine: Rpc
    """Calls a server that was started afterwards."""
    session_id: str
    run: Run
    history: list[Any]


Crash = Callable[..., Any]


@pytest.fixture
def crash(
    call_as: As, create: Create, shared_database: Database, start_server: Callable[..., ServerProcess], tenant: str
) -> Crash:
    """Start a run, have it write in a process of its own, and kill that and the server."""

    async def crashed(lease_seconds: int) -> Crashed:
        doomed = start_server(shared_database)
        engine = call_as("e", "engine", to=doomed)
        session_id = await create(messages=[said("go on"), called("c1", name="pay")])
        run = await started(engine, session_id, run_id="run-1", lease={"seconds": lease_seconds})
        await engine.UpdateToolCall(session_id=session_id, fence=fence_of(run), call_id="c1", status=RUNNING)
        writer = holder.start(doomed.target, doomed.token(tenant=tenant, user="e"), run)
        try:
            assert writer.stdout is not None
            assert (await asyncio.to_thread(writer.stdout.readline)).startswith("stored")
        finally:
            writer.kill()
            writer.communicate()
        doomed.kill()
        again = call_as("e2", "engine", to=start_server(shared_database))
        history = list((await again.ListMessages(session_id=session_id, page_size=1000)).messages)
        return Crashed(again, session_id, run, history)

    return crashed


async def _ends(engine: Rpc, session_id: str) -> list[int]:
    """Give the versions of the commits that say that run-1 ended."""
    commits, token = [], ""
    while True:
        page = await engine.ListCommits(session_id=session_id, page_size=1000, page_token=token)
        commits += page.commits
        if not (token := page.next_page_token):
            break
    told = [(commit.version, run) for commit in commits for run in (commit.run, commit.ended_run)]
    return [version for version, run in told if run.run_id == "run-1" and run.status not in {0, ACTIVE}]


async def _unharmed(crashed: Crashed) -> None:
    """Check that the history is what it was, that the run ended once, and that another is at it now."""
    engine, session_id = crashed.engine, crashed.session_id
    after = (await engine.ListMessages(session_id=session_id, page_size=1000)).messages
    assert list(after) == crashed.history
    ended = await run_of(engine, session_id, "run-1")
    assert await _ends(engine, session_id) == [ended.ended_version]
    assert (await engine.GetSession(session_id=session_id)).session.active_run_id == "run-2"
    await engine.Append(session_id=session_id, fence={"run_id": "run-2", "fencing_token": 2}, messages=[said("on")])
    late = await refusal(engine.Append(session_id=session_id, fence=fence_of(crashed.run), messages=[said("late")]))
    assert late.reason in {"RUN_FENCED", "RUN_ENDED"}


async def test_after_the_lease_the_next_run_starts_and_the_lost_one_reads_as_lost(crash: Crash) -> None:
    crashed = await crash(2)
    engine, session_id = crashed.engine, crashed.session_id
    async with asyncio.timeout(20):
        while isinstance(told := await outcome(engine.StartRun(session_id=session_id, run_id="run-2")), Refusal):
            assert (told.what, told.metadata["run_id"]) == (BUSY, "run-1")
            await asyncio.sleep(0.05)
    lost = await run_of(engine, session_id, "run-1")
    assert (lost.status, lost.ended_version) == (EXPIRED, told.receipt.version)
    assert "lease ran out" in lost.error
    (pay,) = (await engine.ListToolCalls(session_id=session_id)).tool_calls
    assert (pay.status, pay.ended_version) == (INTERRUPTED, told.receipt.version)
    await _unharmed(crashed)


@pytest.mark.parametrize("way_out", ["FinishRun", "CancelRun", "StartRun", "CloseSession"])
async def test_before_that_it_is_busy_names_the_run_and_has_ways_out(crash: Crash, way_out: str) -> None:
    crashed = await crash(3600)
    engine, session_id = crashed.engine, crashed.session_id
    refused = await refusal(engine.StartRun(session_id=session_id, run_id="run-2"))
    assert (refused.what, refused.metadata["run_id"]) == (BUSY, "run-1")
    run = await run_of(engine, session_id, refused.metadata["run_id"])
    if way_out == "FinishRun":
        await engine.FinishRun(session_id=session_id, fence=fence_of(run), status=FAILED, error="the engine died")
    elif way_out == "CancelRun":
        await engine.CancelRun(session_id=session_id, run_id="run-1", now=True)
    elif way_out == "CloseSession":
        await engine.CloseSession(session_id=session_id, force=True)
        await engine.RestoreSession(session_id=session_id)
    await engine.StartRun(session_id=session_id, run_id="run-2", on_busy=INTERRUPT if way_out == "StartRun" else 0)
    ended = await run_of(engine, session_id, "run-1")
    assert ended.status == {"FinishRun": FAILED, "StartRun": SUPERSEDED}.get(way_out, CANCELLED)
    (pay,) = (await engine.ListToolCalls(session_id=session_id)).tool_calls
    assert pay.status == (RUNNING if way_out == "FinishRun" else INTERRUPTED)
    await _unharmed(crashed)
    await engine.CompleteToolCall(session_id=session_id, call_id="c1", result_json='"paid after all"')
    (pay,) = (await engine.ListToolCalls(session_id=session_id)).tool_calls
    assert pay.status == SUCCEEDED


async def test_the_same_engine_takes_its_run_up_again_before_and_after_the_lease(crash: Crash) -> None:
    """A run of one's own name is joined as long as nobody took over; then its handle still writes."""
    crashed = await crash(3600)
    engine, session_id = crashed.engine, crashed.session_id
    joined = await started(engine, session_id, run_id="run-1", on_busy=JOIN)
    assert joined.fencing_token == crashed.run.fencing_token
    await engine.Append(session_id=session_id, fence=fence_of(joined), messages=[said("back")])
    await engine.FinishRun(session_id=session_id, fence=fence_of(joined), status=DONE)
    assert len(await _ends(engine, session_id)) == 1
