"""CONTRACT 7 and API.md: a user is erased session by session, and an erasure that was cut short is gone on with."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import grpc
import pytest
from grpc import aio

from factories import fresh, said
from lockstitch.v1 import admin_service_pb2 as pb
from lockstitch.v1.session_pb2 import SESSION_STATUS_EXPIRED
from lockstitch_server.server_process import ServerProcess
from support.callers import Caller
from support.databases import Database
from support.full_life import lived
from support.orphans import orphans
from support.rpc import As, Rpc, field_refused, refusal
from support.running import started
from support.scans import copies, dump, places
from support.waiting import POLL_SECONDS

SESSIONS = 120
NOTHING = pb.EraseUserResponse()


@pytest.fixture(scope="module")
def server(database: Database, start_server: Callable[..., ServerProcess]) -> ServerProcess:
    return start_server(database, LOCKSTITCH_SWEEP_INTERVAL="0.1", LOCKSTITCH_SWEEP_SHARE="1")


@pytest.fixture
async def engine(call_as: As, server: ServerProcess) -> Rpc:
    return call_as("e", "engine", to=server)


@pytest.fixture
async def elsewhere(call_as: As, server: ServerProcess) -> Rpc:
    """An engine of another tenant."""
    return call_as("e", "engine", tenant=fresh("tenant"), to=server)


@pytest.fixture
async def admin(call_as: As, server: ServerProcess) -> Rpc:
    return call_as("a", "admin", to=server)


async def many(engine: Rpc, user_id: str, number: int = SESSIONS) -> list[str]:
    """Make sessions of a user."""
    made = await asyncio.gather(*(engine.CreateSession(user_id=user_id, messages=[said("hi")]) for _ in range(number)))
    return [answer.session.session_id for answer in made]


async def listed(engine: Rpc, user_id: str) -> int:
    return len((await engine.ListSessions(user_id=user_id, show_deleted=True, page_size=1000)).sessions)


async def purged(database: Database, tenant: str) -> int:
    (row,) = await database.as_superuser("select count(*) from lockstitch.purged_sessions where tenant_id = $1", tenant)
    return int(row[0])


async def erased(admin: Rpc, user_id: str) -> int:
    """Say it until nothing remains; gives how many sessions that purged."""
    total = 0
    async with asyncio.timeout(60):
        while True:
            answer = await admin.EraseUser(user_id=user_id)
            total += int(answer.sessions_purged)
            if answer.sessions_remaining == 0:
                return total


async def test_a_users_sessions_go_in_every_state_and_nobody_elses(
    engine: Rpc, elsewhere: Rpc, admin: Rpc, database: Database, tenant: str
) -> None:
    user_id = fresh("user")
    active, closed, deleted, running = await many(engine, user_id, 4)
    expired = (await engine.CreateSession(user_id=user_id, ttl={"seconds": 1})).session.session_id
    await engine.CloseSession(session_id=closed)
    await engine.DeleteSession(session_id=deleted)
    await started(engine, running)
    async with asyncio.timeout(20):
        while (await engine.GetSession(session_id=expired)).session.status != SESSION_STATUS_EXPIRED:
            await asyncio.sleep(POLL_SECONDS)
    others = await many(engine, fresh("another"), 2)
    namesake = await many(elsewhere, user_id, 2)

    answer = await admin.EraseUser(user_id=user_id)

    assert (answer.sessions_purged, answer.sessions_remaining) == (5, 0)
    for session_id in (active, closed, deleted, expired, running):
        refused = await refusal(engine.GetSession(session_id=session_id, show_deleted=True))
        assert refused.reason == "SESSION_NOT_FOUND"
    assert await listed(engine, user_id) == 0
    for session_id in others:
        assert (await engine.GetSession(session_id=session_id)).session.version == 1
    for session_id in namesake:
        assert (await elsewhere.GetSession(session_id=session_id)).session.version == 1
    assert await admin.EraseUser(user_id=user_id) == NOTHING
    assert await purged(database, tenant) == 5


async def test_an_erased_user_is_in_no_row_and_no_copy(
    engine: Rpc, admin: Rpc, database: Database, tenant: str, postgres_bin: Path | None
) -> None:
    user_id, marker = fresh("user"), fresh("MARK")
    for _ in range(2):
        await lived(engine, database, tenant, marker, user_id=user_id)
    assert len(await places(database, marker.encode())) > 10
    assert (await admin.EraseUser(user_id=user_id)).sessions_purged == 2
    assert await places(database, marker.encode(), user_id.encode()) == []
    assert copies(dump(database, postgres_bin), marker.encode(), user_id.encode()) == []
    assert await orphans(database) == []


async def test_only_an_admin_erases_and_names_whom(engine: Rpc, admin: Rpc, call_as: As, server: ServerProcess) -> None:
    await many(engine, "u1", 1)
    for caller in (engine, call_as("u1", to=server)):
        assert (await refusal(caller.EraseUser(user_id="u1"))).reason == "ROLE_NOT_ALLOWED"
    assert await listed(engine, "u1") == 1
    assert await field_refused(admin.EraseUser(user_id="")) == "user_id"
    assert await field_refused(admin.EraseUser(user_id="x" * 129)) == "user_id"
    assert await field_refused(admin.EraseUser(user_id="u1", request_id="server:x")) == "request_id"
    assert await admin.EraseUser(user_id=fresh("nobody")) == NOTHING
    assert await listed(engine, "u1") == 1


async def test_an_erasure_whose_deadline_passed_is_gone_on_with(
    engine: Rpc, admin: Rpc, database: Database, tenant: str
) -> None:
    user_id = fresh("user")
    await many(engine, user_id)
    with pytest.raises(aio.AioRpcError) as caught:
        await admin.caller.admin.EraseUser(pb.EraseUserRequest(user_id=user_id), timeout=0.005)
    assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    await erased(admin, user_id)
    assert (await listed(engine, user_id), await purged(database, tenant)) == (0, SESSIONS)


async def test_an_erasure_whose_server_was_killed_is_gone_on_with_on_another(
    engine: Rpc, admin: Rpc, database: Database, tenant: str, start_server: Callable[..., ServerProcess]
) -> None:
    user_id = fresh("user")
    await many(engine, user_id)
    doomed = start_server(database)
    async with Caller(doomed.target, doomed.token(tenant=tenant, user="a", role="admin")) as caller:
        erasing = asyncio.ensure_future(caller.admin.EraseUser(pb.EraseUserRequest(user_id=user_id)))
        async with asyncio.timeout(20):
            while await purged(database, tenant) == 0:
                await asyncio.sleep(0)
        doomed.kill()
        with suppress(aio.AioRpcError):
            answer = await erasing
            pytest.fail(f"it was done before it could be killed: {answer}")
    assert await listed(engine, user_id) > 0
    assert await erased(admin, user_id) > 0
    assert (await listed(engine, user_id), await purged(database, tenant)) == (0, SESSIONS)
    assert await orphans(database) == []


async def test_sessions_that_are_made_meanwhile_are_erased_or_said_to_remain(
    engine: Rpc, admin: Rpc, database: Database, tenant: str
) -> None:
    user_id = fresh("user")
    await many(engine, user_id, 30)
    creating = asyncio.ensure_future(many(engine, user_id, 60))
    answer = await admin.EraseUser(user_id=user_id)
    made = await creating
    assert len(made) == 60
    left = await listed(engine, user_id)
    assert answer.sessions_purged + left == 90
    assert answer.sessions_remaining <= left
    assert answer.sessions_purged + await erased(admin, user_id) == 90
    assert (await listed(engine, user_id), await purged(database, tenant)) == (0, 90)


async def test_two_erasures_of_a_user_share_the_work(engine: Rpc, admin: Rpc, database: Database, tenant: str) -> None:
    user_id = fresh("user")
    await many(engine, user_id, 60)
    answers = await asyncio.gather(
        admin.EraseUser(user_id=user_id, request_id="one"), admin.EraseUser(user_id=user_id, request_id="two")
    )
    assert sum(answer.sessions_purged for answer in answers) == 60
    assert [answer.sessions_remaining for answer in answers] == [0, 0]
    assert await purged(database, tenant) == 60
