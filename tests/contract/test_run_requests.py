"""CONTRACT 10: what runs are asked for with, and what a retry is told."""

from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration

from factories import fresh, said
from lockstitch.v1 import run_service_pb2 as pb
from support.rpc import Create, Rpc, as_replayed, field_refused, refusal
from support.running import (
    CANCELLED,
    INTERRUPT,
    Lapse,
    fence_of,
    run_of,
    started,
    version_of,
)

HOUR = 3600


@pytest.mark.parametrize(
    ("seconds", "nanos", "taken"),
    [
        (1, 0, True),
        (1, 500_000_000, True),
        (HOUR, 0, True),
        (0, 0, False),
        (0, 500_000_000, False),
        (0, 999_999_999, False),
        (HOUR, 1, False),
        (365 * 86_400, 0, False),
        (-1, 0, False),
        (-1, -1, False),
        (2, -1, False),
        (1, 1_000_000_000, False),
        (2**63 - 1, 999_999_999, False),
        (-(2**63), 0, False),
    ],
)
async def test_a_lease_is_1_second_to_1_hour(
    engine: Rpc, create: Create, seconds: int, nanos: int, *, taken: bool
) -> None:
    lease = Duration(seconds=seconds, nanos=nanos)
    session_id = await create()
    if not taken:
        assert await field_refused(engine.StartRun(session_id=session_id, lease=lease)) == "lease"
        run = await started(engine, session_id)
        assert await field_refused(engine.RenewRun(session_id=session_id, fence=fence_of(run), lease=lease)) == "lease"
        assert await run_of(engine, session_id, run.run_id) == run
        return
    run = await started(engine, session_id, lease=lease)
    assert run.lease_expire_time.ToNanoseconds() - run.start_time.ToNanoseconds() == lease.ToNanoseconds()
    renewed = (await engine.RenewRun(session_id=session_id, fence=fence_of(run), lease=lease)).run
    assert renewed.lease_expire_time.ToNanoseconds() > run.lease_expire_time.ToNanoseconds()


@pytest.mark.parametrize(
    ("field", "fields"),
    [
        ("run_id", {"run_id": "x" * 129}),
        ("run_id", {"run_id": "a\nb"}),
        ("run_id", {"run_id": "\x00"}),
        ("worker", {"worker": "x" * 129}),
        ("worker", {"worker": "a\x00b"}),
        ("on_busy", {"on_busy": 77}),
        ("on_busy", {"on_busy": -1}),
        ("expected_version", {"expected_version": -1}),
        ("labels", {"labels": {str(n): "" for n in range(65)}}),
        ("labels", {"labels": {"": "v"}}),
        ("labels", {"labels": {"k": "v" * 129}}),
    ],
)
async def test_a_start_that_is_none_is_refused_by_name(
    engine: Rpc, create: Create, field: str, fields: dict[str, Any]
) -> None:
    session_id = await create()
    told = await field_refused(engine.StartRun(session_id=session_id, **fields))
    assert told.startswith(field)
    assert await version_of(engine, session_id) == 1


async def test_a_replay_gives_the_run_as_of_its_answer_whatever_became_of_it(
    engines: tuple[Rpc, Rpc], create: Create, lapse: Lapse
) -> None:
    engine, other = engines
    session_id = await create()
    start = pb.StartRunRequest(request_id="s", session_id=session_id, lease={"seconds": 60}, labels={"a": "b"})  # type: ignore[arg-type]
    begun = await engine.send(start)
    ask = pb.CancelRunRequest(request_id="c", session_id=session_id, run_id=begun.run.run_id)
    asked = await engine.send(ask)
    await engine.RenewRun(session_id=session_id, fence=fence_of(begun.run), lease={"seconds": HOUR})
    finish = pb.FinishRunRequest(
        request_id="f", session_id=session_id, fence=fence_of(begun.run), status=CANCELLED, error="asked"
    )
    finished = await engine.send(finish)
    # The lease in commits and their replays is the one that was granted.
    assert (begun.run.lease_expire_time, asked.run.cancel_requested) == (asked.run.lease_expire_time, True)
    await lapse(session_id)
    await started(engine, session_id, on_busy=INTERRUPT)
    await engine.CloseSession(session_id=session_id, force=True)
    before = (await engine.GetSession(session_id=session_id)).session
    for request, first in ((start, begun), (ask, asked), (finish, finished)):
        again = await other.send(request)
        assert (again.run, again.receipt) == (first.run, as_replayed(first.receipt))
    assert (await engine.GetSession(session_id=session_id)).session == before


@pytest.mark.parametrize("how", ["taken over", "interrupted", "cancelled now", "closed", "deleted"])
async def test_a_start_is_replayed_after_somebody_else_ended_the_run(
    engines: tuple[Rpc, Rpc], create: Create, lapse: Lapse, how: str
) -> None:
    engine, other = engines
    session_id = await create()
    start = pb.StartRunRequest(request_id=fresh(), session_id=session_id)
    first = await engine.send(start)
    if how == "taken over":
        await lapse(session_id)
        await started(engine, session_id)
    elif how == "interrupted":
        await started(engine, session_id, on_busy=INTERRUPT)
    elif how == "cancelled now":
        await engine.CancelRun(session_id=session_id, run_id=first.run.run_id, now=True)
    elif how == "closed":
        await engine.CloseSession(session_id=session_id, force=True)
    else:
        await engine.DeleteSession(session_id=session_id, force=True)
    again = await other.send(start)
    assert (again.run, again.receipt) == (first.run, as_replayed(first.receipt))
    late = await refusal(engine.Append(session_id=session_id, fence=fence_of(first.run), messages=[said("x")]))
    assert late.reason == {"closed": "SESSION_CLOSED", "deleted": "SESSION_DELETED"}.get(how, "RUN_FENCED")
