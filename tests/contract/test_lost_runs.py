"""CONTRACT 10: the server ends a run that nobody took over, once, after lease and grace, by the database's clock."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from factories import AWAITING_APPROVAL, INTERRUPTED, RUNNING, called, said
from lockstitch.v1.commit_pb2 import CALLER_ROLE_SYSTEM
from lockstitch.v1.run_pb2 import Run
from lockstitch.v1.session_pb2 import SESSION_STATUS_ACTIVE, SESSION_STATUS_EXPIRED
from lockstitch_server.auth import keys
from lockstitch_server.auth.tokens import TokenSigner
from lockstitch_server.model import CallerRole
from lockstitch_server.server_process import ServerProcess
from support.callers import Caller
from support.databases import Database
from support.rpc import Refusal, Rpc, outcome, refusal
from support.running import ACTIVE, EXPIRED, FENCED, fence_of, run_of, started

GRACE = {"LOCKSTITCH_RUN_GRACE": "1", "LOCKSTITCH_SWEEP_INTERVAL": "0.1"}
FAKETIME = sorted(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))


@pytest.fixture(scope="module")
def sweepers(database: Database, start_server: Callable[..., ServerProcess]) -> tuple[ServerProcess, ...]:
    """Two servers that end lost runs of the module's database soon."""
    return start_server(database, **GRACE), start_server(database, **GRACE)


@pytest.fixture
async def call(tenant: str) -> AsyncIterator[Callable[..., Rpc]]:
    """Make engines that call a server."""
    async with AsyncExitStack() as opened:

        def engine_at(server: ServerProcess, clock: float = 0) -> Rpc:
            """Give an engine whose token was signed by a clock that is so many seconds ahead."""
            signer = TokenSigner(keys.load_or_make(server.data_dir), lambda: time.time() + clock)
            token = signer.sign(tenant=tenant, subject="engine-1", role=CallerRole.ENGINE, ttl=timedelta(hours=1))
            made = Caller(server.target, token)
            opened.push_async_callback(made.close)
            return Rpc(made)

        yield engine_at


async def _new(engine: Rpc, **fields: Any) -> str:
    created = await engine.CreateSession(user_id="u1", **fields)
    return str(created.session.session_id)


async def _until_ended(engine: Rpc, run: Run) -> Run:
    async with asyncio.timeout(20):
        while (seen := await run_of(engine, run.session_id, run.run_id)).status == ACTIVE:
            await asyncio.sleep(0.02)
    return seen


async def test_the_server_ends_a_lost_run_once_after_lease_and_grace(
    sweepers: tuple[ServerProcess, ...], call: Callable[..., Rpc]
) -> None:
    engine = call(sweepers[0])
    session_id = await _new(engine, messages=[called("a", "b", "c")])
    run = await started(engine, session_id, lease={"seconds": 3})
    fence = fence_of(run)
    await engine.UpdateToolCall(session_id=session_id, fence=fence, call_id="a", status=RUNNING)
    await engine.UpdateToolCall(session_id=session_id, fence=fence, call_id="b", status=AWAITING_APPROVAL)
    kept_id = await _new(engine)
    kept = await started(engine, kept_id, lease={"seconds": 3})
    renewed = await engine.RenewRun(session_id=kept_id, fence=fence_of(kept), lease={"seconds": 600})
    before = (await engine.GetSession(session_id=session_id)).session

    ended = await _until_ended(call(sweepers[1]), run)
    assert (ended.status, ended.ended_version, bool(ended.error)) == (EXPIRED, before.version + 1, True)
    assert ended.end_time.ToNanoseconds() >= run.lease_expire_time.ToNanoseconds() + 10**9
    (commit,) = (await engine.ListCommits(session_id=session_id, after_version=before.version)).commits
    assert (commit.run, commit.run_id) == (ended, "")
    assert (commit.principal.subject, commit.principal.role) == ("system", CALLER_ROLE_SYSTEM)
    assert commit.request_id_hash == sha256(b"server:run/1").digest()[:16]
    assert [(each.call_id, each.status) for each in commit.tool_calls] == [("a", INTERRUPTED)]
    after = (await engine.GetSession(session_id=session_id)).session
    assert (after.active_run_id, after.version) == ("", before.version + 1)
    assert after.last_activity_time == before.last_activity_time
    late = engine.Append(session_id=session_id, fence=fence, messages=[said("late")])
    assert (await refusal(late)).what == FENCED
    # Meanwhile the one that was renewed was left alone.
    assert (await run_of(engine, kept_id, kept.run_id)) == renewed.run
    assert (await started(engine, session_id)).fencing_token == 2


async def test_a_run_that_is_renewed_after_its_lease_lapsed_is_left_alone(
    sweepers: tuple[ServerProcess, ...], call: Callable[..., Rpc]
) -> None:
    """Renew one run between lapse and end, again and again, until one that was not renewed has been ended."""
    engine = call(sweepers[0])
    session_id, other_id = await _new(engine), await _new(engine)
    run = await started(engine, session_id, lease={"seconds": 1})
    for _ in range(2):
        lost = await started(engine, other_id, lease={"seconds": 1})
        async with asyncio.timeout(20):
            while (await run_of(engine, other_id, lost.run_id)).status == ACTIVE:
                seen = await run_of(engine, session_id, run.run_id)
                assert seen.status == ACTIVE
                if seen.lease_expire_time.ToNanoseconds() < (await _now(engine)) - 10**8:
                    await engine.RenewRun(session_id=session_id, fence=fence_of(run), lease={"seconds": 1})
                await asyncio.sleep(0.02)
    assert (await engine.GetSession(session_id=session_id)).session.version == 2


async def _now(engine: Rpc) -> int:
    """The database's clock."""
    return int(
        (await engine.Append(session_id=await _new(engine), messages=[said("x")])).receipt.commit_time.ToNanoseconds()
    )


async def test_a_lease_that_was_renewed_for_less_than_it_had_is_over_when_it_says(
    sweepers: tuple[ServerProcess, ...], call: Callable[..., Rpc]
) -> None:
    engine = call(sweepers[0])
    session_id = await _new(engine)
    run = await started(engine, session_id, lease={"seconds": 3600})
    renewed = await engine.RenewRun(session_id=session_id, fence=fence_of(run), lease={"seconds": 1})
    assert renewed.run.lease_expire_time.ToNanoseconds() < run.lease_expire_time.ToNanoseconds()
    ended = await _until_ended(engine, run)
    assert ended.status == EXPIRED
    assert ended.end_time.ToNanoseconds() >= renewed.run.lease_expire_time.ToNanoseconds() + 10**9


async def test_a_session_with_a_live_lease_is_not_idle_and_expires_when_that_is_over(
    sweepers: tuple[ServerProcess, ...], call: Callable[..., Rpc]
) -> None:
    engine = call(sweepers[0])
    session_id = await _new(engine, idle_ttl={"seconds": 2}, messages=[called("a")])
    run = await started(engine, session_id, lease={"seconds": 4})
    await engine.UpdateToolCall(session_id=session_id, fence=fence_of(run), call_id="a", status=RUNNING)
    idle_from = (await engine.GetSession(session_id=session_id)).session.last_activity_time.ToNanoseconds() + 2 * 10**9
    expired_at = 0
    async with asyncio.timeout(20):
        while not expired_at:
            session = (await engine.GetSession(session_id=session_id)).session
            if session.status == SESSION_STATUS_EXPIRED:
                expired_at = await _now(engine)
            else:
                assert session.status == SESSION_STATUS_ACTIVE
                await asyncio.sleep(0.02)
    assert expired_at >= run.lease_expire_time.ToNanoseconds() > idle_from
    # From that instant it takes nothing, its holder's renewal included.
    late = await outcome(engine.Append(session_id=session_id, fence=fence_of(run), messages=[said("late")]))
    assert isinstance(late, Refusal)
    assert late.reason == "SESSION_EXPIRED"
    renewal = await outcome(engine.RenewRun(session_id=session_id, fence=fence_of(run)))
    assert isinstance(renewal, Refusal)
    assert renewal.reason in {"SESSION_EXPIRED", "RUN_FENCED"}
    assert (await engine.GetSession(session_id=session_id)).session.status == SESSION_STATUS_EXPIRED
    ended = await _until_ended(engine, run)
    assert ended.status == EXPIRED
    (call_,) = (await engine.ListToolCalls(session_id=session_id)).tool_calls
    assert call_.status == INTERRUPTED
    session = (await engine.GetSession(session_id=session_id)).session
    assert (session.status, session.active_run_id) == (SESSION_STATUS_EXPIRED, "")


async def test_many_lost_runs_are_each_ended_once_by_two_servers(
    sweepers: tuple[ServerProcess, ...], call: Callable[..., Rpc]
) -> None:
    engine = call(sweepers[0])
    runs = [await started(engine, await _new(engine), lease={"seconds": 1}) for _ in range(20)]
    for run in runs:
        await _until_ended(engine, run)
    for run in runs:
        commits = (await engine.ListCommits(session_id=run.session_id)).commits
        assert [(commit.version, commit.run.status) for commit in commits][1:] == [(2, ACTIVE), (3, EXPIRED)]


@pytest.mark.skipif(not FAKETIME, reason="libfaketime is not installed")
@pytest.mark.parametrize("step", [600, -600])
async def test_a_servers_own_clock_grants_and_judges_no_lease(
    database: Database,
    start_server: Callable[..., ServerProcess],
    sweepers: tuple[ServerProcess, ...],
    call: Callable[..., Rpc],
    step: int,
) -> None:
    off = call(
        start_server(
            database, LD_PRELOAD=str(FAKETIME[0]), FAKETIME=f"{step:+}", FAKETIME_DONT_FAKE_MONOTONIC="1", **GRACE
        ),
        step,
    )
    right = call(sweepers[0])
    session_id = await _new(right)
    granted = await started(off, session_id, lease={"seconds": 5})
    now = await _now(right)
    assert abs(granted.start_time.ToNanoseconds() - now) < 60 * 10**9
    assert granted.lease_expire_time.ToNanoseconds() - granted.start_time.ToNanoseconds() == 5 * 10**9
    for engine in (off, right):
        assert (await refusal(engine.StartRun(session_id=session_id))).reason == "RUN_ACTIVE"
    renewed = (await off.RenewRun(session_id=session_id, fence=fence_of(granted), lease={"seconds": 5})).run
    assert 0 < renewed.lease_expire_time.ToNanoseconds() - granted.lease_expire_time.ToNanoseconds() < 60 * 10**9
    # It lapses for both at one time, which both read alike.
    until = renewed.lease_expire_time.ToNanoseconds()
    async with asyncio.timeout(20):
        while isinstance(told := await outcome(off.StartRun(session_id=session_id)), Refusal):
            assert told.metadata["run_id"] == granted.run_id
            await asyncio.sleep(0.02)
    assert until <= told.run.start_time.ToNanoseconds() < until + 60 * 10**9
    assert (await run_of(right, session_id, granted.run_id)) == (await run_of(off, session_id, granted.run_id))
