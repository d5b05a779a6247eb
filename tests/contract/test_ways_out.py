"""CONTRACT 10: no state exists that no call can leave: a walk over those of sessions and runs, and what leaves them."""

from typing import Any

import pytest

from lockstitch.v1.run_pb2 import RunStatus
from lockstitch.v1.session_pb2 import (
    SESSION_STATUS_ACTIVE,
    SESSION_STATUS_CLOSED,
    SESSION_STATUS_DELETED,
    SESSION_STATUS_EXPIRED,
    SessionStatus,
)
from support import running
from support.databases import Database
from support.rpc import Create, Rpc
from support.running import INTERRUPT, run_of, started
from support.ways import Build, Call, State, World, ways

NEW_LIFE: dict[str, Any] = {"ttl": {"seconds": 3600}}


@pytest.fixture
def world(engine: Rpc, create: Create, shared_database: Database, tenant: str) -> World:
    return World(engine, create, shared_database, tenant)


async def _active(world: World) -> str:
    return await world.create(**NEW_LIFE)


async def _closed(world: World) -> str:
    session_id = await _active(world)
    await world.engine.CloseSession(session_id=session_id)
    return session_id


async def _closed_and_past(world: World) -> str:
    session_id = await _closed(world)
    await world.age(session_id)
    return session_id


async def _expired(world: World) -> str:
    session_id = await _active(world)
    await world.age(session_id)
    return session_id


async def _deleted(world: World) -> str:
    session_id = await _active(world)
    await world.engine.DeleteSession(session_id=session_id)
    return session_id


async def _deleted_when_closed(world: World) -> str:
    session_id = await _closed(world)
    await world.engine.DeleteSession(session_id=session_id)
    return session_id


async def _deleted_when_expired(world: World) -> str:
    session_id = await _expired(world)
    await world.engine.DeleteSession(session_id=session_id)
    return session_id


SESSIONS: list[State] = [
    ("active", _active, SESSION_STATUS_ACTIVE, [("CloseSession", {}), ("DeleteSession", {})]),
    ("closed", _closed, SESSION_STATUS_CLOSED, [("RestoreSession", {}), ("DeleteSession", {})]),
    (
        "closed, its time past",
        _closed_and_past,
        SESSION_STATUS_CLOSED,
        [("RestoreSession", NEW_LIFE), ("DeleteSession", {})],
    ),
    ("expired", _expired, SESSION_STATUS_EXPIRED, [("RestoreSession", NEW_LIFE), ("DeleteSession", {})]),
    ("deleted", _deleted, SESSION_STATUS_DELETED, [("UndeleteSession", {})]),
    ("deleted when closed", _deleted_when_closed, SESSION_STATUS_DELETED, [("UndeleteSession", {})]),
    ("deleted when expired", _deleted_when_expired, SESSION_STATUS_DELETED, [("UndeleteSession", {})]),
]


def test_every_status_that_is_not_final_is_walked() -> None:
    assert {left for _, __, left, ___ in SESSIONS} == set(SessionStatus.values()) - {0}
    ended = {running.DONE, running.FAILED, running.CANCELLED, running.SUPERSEDED, running.EXPIRED}
    assert {left for _, __, left, ___ in RUNS} == set(RunStatus.values()) - {0} - ended


@ways(SESSIONS)
async def test_a_session_leaves_every_state(world: World, build: Build, left: int, call: Call) -> None:
    session_id = await build(world)

    async def status() -> int:
        return int((await world.engine.GetSession(session_id=session_id, show_deleted=True)).session.status)

    assert await status() == left
    await getattr(world.engine, call[0])(session_id=session_id, **call[1])
    assert await status() != left


async def _running(world: World) -> str:
    session_id = await _active(world)
    await started(world.engine, session_id, run_id="r", lease={"seconds": 3600})
    return session_id


async def _asked_to_end(world: World) -> str:
    session_id = await _running(world)
    await world.engine.CancelRun(session_id=session_id, run_id="r")
    return session_id


async def _lapsed(world: World) -> str:
    session_id = await _running(world)
    await world.lapse(session_id)
    return session_id


HELD: list[Call] = [
    ("FinishRun", {"fence": {"run_id": "r", "fencing_token": 1}, "status": running.FAILED}),
    ("Append", {"fence": {"run_id": "r", "fencing_token": 1}, "finish_run": {"status": running.DONE}}),
    ("CancelRun", {"run_id": "r", "now": True}),
    ("StartRun", {"on_busy": INTERRUPT}),
    ("CloseSession", {"force": True}),
    ("DeleteSession", {"force": True}),
]
RUNS: list[State] = [
    ("running", _running, running.ACTIVE, HELD),
    ("asked to end", _asked_to_end, running.ACTIVE, HELD),
    ("lapsed", _lapsed, running.ACTIVE, [*HELD, ("StartRun", {}), ("CloseSession", {}), ("DeleteSession", {})]),
]


async def _gone_on(world: World, session_id: str) -> int:
    """Bring a session back to use, whatever became of it; give the status of its first run."""
    await world.engine.UndeleteSession(session_id=session_id)
    await world.engine.RestoreSession(session_id=session_id, **NEW_LIFE)
    return int((await run_of(world.engine, session_id, "r")).status)


@ways(RUNS)
async def test_a_run_leaves_every_state_and_the_session_is_free(
    world: World, build: Build, left: int, call: Call
) -> None:
    session_id = await build(world)
    assert (await run_of(world.engine, session_id, "r")).status == left
    await getattr(world.engine, call[0])(session_id=session_id, **call[1])
    assert await _gone_on(world, session_id) != running.ACTIVE
    if call[0] != "StartRun":
        assert (await started(world.engine, session_id)).fencing_token == 2


@pytest.mark.parametrize("lapsed", [False, True])
@pytest.mark.parametrize(
    "call", [("RestoreSession", NEW_LIFE), ("DeleteSession", {"force": True})], ids=["restored", "deleted"]
)
async def test_a_run_of_an_expired_session_is_left_with_it(world: World, call: Call, *, lapsed: bool) -> None:
    session_id = await _running(world)
    if lapsed:
        await world.lapse(session_id)
    await world.age(session_id)
    await getattr(world.engine, call[0])(session_id=session_id, **call[1])
    status = await _gone_on(world, session_id)
    assert (status == running.ACTIVE) is (call[0] == "RestoreSession")
    assert (await started(world.engine, session_id, on_busy=INTERRUPT)).fencing_token == 2
