"""CONTRACT 7: a purge leaves nothing but that the id is taken, and whoever comes late finds nothing."""

import asyncio
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import pytest

from factories import fresh, said
from lockstitch_server import ids
from lockstitch_server.server_process import ServerProcess
from support.callers import Caller
from support.databases import Database
from support.drafted import drafted
from support.every_change import CREATES, EVERY
from support.every_read import READS_OF_A_SESSION
from support.full_life import lived
from support.orphans import PARTS, orphans
from support.rpc import As, Rpc, outcome, refusal
from support.running import started
from support.scans import copies, dump, places
from support.streams import Reader

GONE = (grpc.StatusCode.NOT_FOUND, "SESSION_NOT_FOUND")
SESSIONS, STEPS = 12, 150


@pytest.fixture(scope="module")
def servers(database: Database, start_server: Callable[..., ServerProcess]) -> list[ServerProcess]:
    """Two processes on the module's own database, which is small enough to be read whole."""
    return [start_server(database, LOCKSTITCH_SWEEP_INTERVAL="0.1", LOCKSTITCH_SWEEP_SHARE="1") for _ in range(2)]


@pytest.fixture
async def engine(call_as: As, servers: list[ServerProcess]) -> Rpc:
    return call_as("e", "engine", to=servers[0])


@pytest.fixture
async def elsewhere(call_as: As, servers: list[ServerProcess]) -> Rpc:
    """An admin at the other process."""
    return call_as("a", "admin", to=servers[1])


@pytest.fixture
async def admin(call_as: As, servers: list[ServerProcess]) -> Rpc:
    return call_as("a", "admin", to=servers[0])


@pytest.fixture
async def user(call_as: As, servers: list[ServerProcess]) -> Rpc:
    return call_as("u1", to=servers[0])


async def rows_of(database: Database, tenant: str, session_id: str) -> dict[str, int]:
    """Count a session's rows by table, where there are any."""
    key = ids.session_key(tenant, session_id)
    counts = {}
    for table in ["sessions", *(row["relname"] for row in await database.as_superuser(PARTS))]:
        (row,) = await database.as_superuser(f"select count(*) from lockstitch.{table} where session_key = $1", key)
        counts[table] = row[0]
    return {table: count for table, count in counts.items() if count}


async def test_a_purge_leaves_no_row_and_no_copy(
    engine: Rpc, admin: Rpc, database: Database, tenant: str, postgres_bin: Path | None
) -> None:
    marker = fresh("MARK")
    life = await lived(engine, database, tenant, marker, session_id=fresh("own-id"))
    neighbour = await lived(engine, database, tenant, "other")
    tables = [row["relname"] for row in await database.as_superuser(PARTS)]
    assert sorted(await rows_of(database, tenant, life.session_id)) == sorted(["sessions", *tables])
    assert len(await places(database, marker.encode())) > 10
    beside = await rows_of(database, tenant, neighbour.session_id)

    purge_time = (await admin.PurgeSession(session_id=life.session_id, force=True)).purge_time

    assert await rows_of(database, tenant, life.session_id) == {}
    assert await places(database, marker.encode(), life.session_id.encode()) == []
    assert copies(dump(database, postgres_bin), marker.encode(), life.session_id.encode()) == []
    (left,) = await database.as_superuser(
        "select * from lockstitch.purged_sessions where session_key = $1", ids.session_key(tenant, life.session_id)
    )
    assert dict(left).keys() == {"session_key", "request_hash", "purge_time", "tenant_id"}
    assert left["purge_time"].timestamp() == pytest.approx(purge_time.ToNanoseconds() / 10**9, abs=1e-5)
    assert await rows_of(database, tenant, neighbour.session_id) == beside
    assert await orphans(database) == []


async def test_whoever_comes_late_finds_nothing(engine: Rpc, admin: Rpc, database: Database, tenant: str) -> None:
    life = await lived(engine, database, tenant, "m", session_id=fresh("own-id"))
    never = await refusal(engine.GetSession(session_id=fresh("never")))
    await admin.PurgeSession(session_id=life.session_id, force=True)
    on = {"session_id": life.session_id}
    late: list[Any] = [
        *(EVERY[name].on(life.session_id) for name in EVERY if name not in CREATES),
        *(read(engine, life.session_id) for read in READS_OF_A_SESSION.values()),
        *(getattr(engine, method)(**on, page_token=token, page_size=1) for method, token in life.tokens.items()),
        engine.GetSession(**on, show_deleted=True),
        engine.Append(**on, request_id=life.request_ids[0], messages=[said("again")]),
        engine.RenewRun(**on, fence={"run_id": life.run_id, "fencing_token": 1}),
        admin.PurgeSession(**on),
    ]
    for call in late:
        refused = await refusal(call if hasattr(call, "__await__") else engine.send(call))
        assert (refused.what, refused.details) == (GONE, never.details), call
    assert (await engine.ListSessions(show_deleted=True)).sessions == []


async def test_a_purged_id_stays_taken(engine: Rpc, admin: Rpc, user: Rpc) -> None:
    own = fresh("own-id")
    create = {"session_id": own, "request_id": "c", "user_id": "u1"}
    await engine.CreateSession(**create)
    await admin.PurgeSession(session_id=own)
    for caller in (engine, user):
        assert (await refusal(caller.CreateSession(**create))).reason == "SESSION_EXISTS"
        appended = caller.Append(session_id=own, create_if_missing={}, messages=[said("hi")])
        assert (await refusal(appended)).what == GONE
    made = (await engine.CreateSession(request_id="r", user_id="u1")).session.session_id
    await admin.PurgeSession(session_id=made)
    assert (await refusal(engine.CreateSession(request_id="r", user_id="u1"))).what == GONE
    assert (await engine.ListSessions(show_deleted=True)).sessions == []


@pytest.mark.parametrize("state", ["active", "closed", "deleted", "expired"])
async def test_a_session_is_purged_whatever_its_state(
    engine: Rpc, admin: Rpc, database: Database, tenant: str, state: str
) -> None:
    life = {"ttl": {"seconds": 1}} if state == "expired" else {}
    session_id = (await engine.CreateSession(user_id="u1", **life)).session.session_id
    if state == "closed":
        await engine.CloseSession(session_id=session_id)
    if state == "deleted":
        await engine.DeleteSession(session_id=session_id)
    if state == "expired":
        async with asyncio.timeout(20):
            while (await engine.GetSession(session_id=session_id)).session.status != 3:
                await asyncio.sleep(0.01)
    await admin.PurgeSession(session_id=session_id)
    assert await rows_of(database, tenant, session_id) == {}


async def test_only_an_admin_of_the_tenant_purges(engine: Rpc, user: Rpc, call_as: As, servers: Any) -> None:
    session_id = (await engine.CreateSession(user_id="u1")).session.session_id
    for caller in (engine, user):
        assert (await refusal(caller.PurgeSession(session_id=session_id))).reason == "ROLE_NOT_ALLOWED"
    stranger = call_as("a", "admin", tenant=fresh("tenant"), to=servers[0])
    assert (await refusal(stranger.PurgeSession(session_id=session_id, force=True))).what == GONE
    assert (await engine.GetSession(session_id=session_id)).session.version == 1


async def test_an_active_run_keeps_a_session_from_being_purged_unless_it_is_forced(engine: Rpc, admin: Rpc) -> None:
    session_id = (await engine.CreateSession(user_id="u1")).session.session_id
    run = await started(engine, session_id)
    refused = await refusal(admin.PurgeSession(session_id=session_id))
    assert (refused.reason, refused.metadata["run_id"]) == ("RUN_ACTIVE", run.run_id)
    assert (await engine.GetSession(session_id=session_id)).session.version == 2
    await admin.PurgeSession(session_id=session_id, force=True)
    assert (await refusal(engine.GetSession(session_id=session_id))).what == GONE


async def test_a_retry_of_a_purge_is_told_when_it_was(engine: Rpc, admin: Rpc, elsewhere: Rpc) -> None:
    session_id = (await engine.CreateSession(user_id="u1")).session.session_id
    first = await admin.PurgeSession(session_id=session_id, request_id="p")
    assert await elsewhere.PurgeSession(session_id=session_id, request_id="p") == first
    assert (await refusal(admin.PurgeSession(session_id=session_id, request_id="q"))).what == GONE


async def test_streams_end_when_their_session_is_purged(
    engine: Rpc, admin: Rpc, servers: list[ServerProcess], tenant: str
) -> None:
    session_id = (await engine.CreateSession(user_id="u1", messages=[said("hi")])).session.session_id
    token = servers[0].token(tenant=tenant, user="e", role="engine")
    readers = [Reader([server.target], token, session_id, resume=False) for server in servers]
    async with readers[0], readers[1]:
        for reader in readers:
            await reader.caught_up()
        await admin.PurgeSession(session_id=session_id)
        for reader in readers:
            assert getattr((await reader.ended()).end, "what", None) == GONE
    async with Reader([servers[1].target], token, session_id, resume=False) as late:
        assert getattr((await late.ended()).end, "what", None) == GONE


async def test_writers_at_the_moment_of_a_purge_leave_nothing_behind(
    engine: Rpc, elsewhere: Rpc, admin: Rpc, database: Database, tenant: str
) -> None:
    for attempt in range(5):
        session_id = (await engine.CreateSession(session_id=fresh("own-id"))).session.session_id
        await drafted(database, tenant, session_id, "so far")
        calls = [
            (engine, elsewhere)[number % 2].Append(
                session_id=session_id, create_if_missing={}, messages=[said("hi")], request_id=str(number)
            )
            for number in range(20)
        ]
        calls += [drafted(database, tenant, session_id, f"step {number}") for number in range(3)]
        calls.insert(10 + attempt, admin.PurgeSession(session_id=session_id))
        answers = await asyncio.gather(*(outcome(call) for call in calls), return_exceptions=True)
        refused = {answer.what for answer in answers if hasattr(answer, "what")}
        assert refused <= {GONE}
        assert await rows_of(database, tenant, session_id) == {}


async def test_a_random_life_of_many_sessions_leaves_no_orphans(
    servers: list[ServerProcess], database: Database, tenant: str
) -> None:
    draw = random.Random(20)
    known = [fresh("s") for _ in range(SESSIONS)]
    async with (
        Caller(servers[0].target, servers[0].token(tenant=tenant, user="a", role="admin")) as one,
        Caller(servers[1].target, servers[1].token(tenant=tenant, user="a", role="admin")) as two,
    ):
        admins = [Rpc(one), Rpc(two)]

        async def step(admin: Rpc, session_id: str, name: str) -> None:
            if name == "create":
                life: dict[str, Any] = draw.choice([{}, {"ttl": {"seconds": 1}}, {"idle_ttl": {"seconds": 1}}])
                await outcome(admin.CreateSession(session_id=session_id, labels={"a": "b"}, **life))
            elif name == "purge":
                await outcome(admin.PurgeSession(session_id=session_id, force=draw.random() < 0.5))
            elif name == "draft":
                # Whether it may be opened is not what is asked here.
                await asyncio.gather(drafted(database, tenant, session_id, "so far"), return_exceptions=True)
            else:
                await outcome(admin.send(EVERY[name].on(session_id)))

        names = ["create", "create", "draft", "StartRun", *(name for name in EVERY if name not in CREATES), "purge"]
        for _ in range(STEPS):
            await asyncio.gather(*(step(draw.choice(admins), draw.choice(known), draw.choice(names)) for _ in range(6)))
    for server in servers:
        assert server.stop() == 0
    assert await orphans(database) == []
    (row,) = await database.as_superuser("select count(*) from lockstitch.purged_sessions where tenant_id = $1", tenant)
    assert row[0] > 0
