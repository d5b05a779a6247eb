"""CONTRACT 7: the sweeper makes the commits that time alone brings about, once, and extends no life."""

import asyncio
from collections.abc import Callable
from datetime import UTC, timedelta
from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from factories import ASSISTANT, called, fresh, said
from lockstitch.v1 import session_pb2
from lockstitch.v1.session_pb2 import (
    SESSION_STATUS_ACTIVE,
    SESSION_STATUS_CLOSED,
    SESSION_STATUS_DELETED,
    SESSION_STATUS_EXPIRED,
)
from lockstitch_server import ids
from lockstitch_server.embedded import EmbeddedPostgres
from lockstitch_server.server_process import ServerProcess
from support.databases import TEMPLATE, Database, made_database
from support.drafted import drafted
from support.orphans import orphans
from support.rpc import As, Rpc, refusal
from support.running import fence_of, started
from support.streams import Reader
from support.waiting import POLL_SECONDS

PROCESSES = 3
SESSIONS = 60
SYSTEM = 4
"""The role of the server's own commits."""
HOUR = {"seconds": 3600}
SETTINGS = {
    "LOCKSTITCH_SWEEP_INTERVAL": "0.1",
    "LOCKSTITCH_SWEEP_SHARE": "1",
    "LOCKSTITCH_RUN_GRACE": "600",
    "LOCKSTITCH_DRAFT_IDLE": "3600",
}


@pytest.fixture(scope="module")
def servers(database: Database, start_server: Callable[..., ServerProcess]) -> list[ServerProcess]:
    """Processes that all sweep one database, ten times a second."""
    return [start_server(database, **SETTINGS) for _ in range(PROCESSES)]


@pytest.fixture
async def engine(call_as: As, servers: list[ServerProcess]) -> Rpc:
    return call_as("e", "engine", to=servers[0])


@pytest.fixture
async def admin(call_as: As, servers: list[ServerProcess]) -> Rpc:
    return call_as("a", "admin", to=servers[0])


async def created(engine: Rpc, **fields: Any) -> str:
    return str((await engine.CreateSession(**{"user_id": "u1"} | fields)).session.session_id)


async def session_of(engine: Rpc, session_id: str) -> session_pb2.Session:
    session: session_pb2.Session = (await engine.GetSession(session_id=session_id, show_deleted=True)).session
    return session


async def swept(engine: Rpc, session_id: str, version: int) -> session_pb2.Session:
    """Wait until a session is at a version that nobody asked for."""
    async with asyncio.timeout(20):
        while (session := await session_of(engine, session_id)).version < version:
            await asyncio.sleep(POLL_SECONDS)
    assert session.version == version
    return session


async def looked_at(database: Database, tenant: str, session_id: str) -> Any:
    """Give when a session will be looked at; None where it will not."""
    rows = await database.as_superuser(
        "select sweep_after from lockstitch.sweeps where session_key = $1", ids.session_key(tenant, session_id)
    )
    return rows[0]["sweep_after"] if rows else None


async def look_now(database: Database, tenant: str, session_id: str) -> None:
    """Have a session looked at, and wait until it was."""
    key = ids.session_key(tenant, session_id)
    await database.as_superuser(
        "insert into lockstitch.sweeps (session_key, sweep_after, tenant_id) values ($1, '2000-01-01Z', $2) "
        "on conflict (session_key) do update set sweep_after = excluded.sweep_after",
        key,
        tenant,
    )
    async with asyncio.timeout(20):
        while await database.as_superuser(
            "select from lockstitch.sweeps where session_key = $1 and sweep_after < '2001-01-01Z'", key
        ):
            await asyncio.sleep(POLL_SECONDS)


async def aged(database: Database, tenant: str, session_id: str, seconds: float) -> None:
    """Let time pass for a session: move what it remembers back, and when it will be looked at, too."""
    key = ids.session_key(tenant, session_id)
    back = f"- interval '{seconds} s'"
    for table, columns in (
        ("session_details", ("expire_time", "purge_time")),
        ("sessions", ("expire_time", "last_activity_time", "purge_time")),
        ("run_leases", ("lease_expire_time",)),
        ("drafts", ("step_time",)),
        ("draft_steps", ("step_time",)),
        ("sweeps", ("sweep_after",)),
    ):
        moved = ", ".join(f"{column} = {column} {back}" for column in columns)
        await database.as_superuser(f"update lockstitch.{table} set {moved} where session_key = $1", key)


async def test_each_expired_session_gets_one_commit_whoever_sweeps(engine: Rpc) -> None:
    sessions = [
        await created(engine, messages=[said("hi")], **{"ttl" if number % 2 else "idle_ttl": {"seconds": 1}})
        for number in range(SESSIONS)
    ]
    before = {session_id: await session_of(engine, session_id) for session_id in sessions}
    for session_id in sessions:
        session = await swept(engine, session_id, 2)
        was = before[session_id]
        assert session.status == SESSION_STATUS_EXPIRED
        assert (session.last_activity_time, session.expire_time) == (was.last_activity_time, was.expire_time)
        assert session.idle_ttl == was.idle_ttl
        _, commit = (await engine.ListCommits(session_id=session_id)).commits
        assert (commit.principal.role, commit.principal.subject) == (SYSTEM, "system")
        assert commit.session.status == SESSION_STATUS_EXPIRED
        ends = was.expire_time.ToNanoseconds() or (
            was.last_activity_time.ToNanoseconds() + was.idle_ttl.ToNanoseconds()
        )
        assert commit.commit_time.ToNanoseconds() >= ends


async def test_an_expired_session_is_swept_once_and_then_left_alone(
    engine: Rpc, database: Database, tenant: str
) -> None:
    session_id = await created(engine, ttl={"seconds": 1})
    session = await swept(engine, session_id, 2)
    assert await looked_at(database, tenant, session_id) is None
    await look_now(database, tenant, session_id)
    assert await session_of(engine, session_id) == session


async def test_a_swept_session_takes_no_change_and_gets_a_new_life(
    engine: Rpc, database: Database, tenant: str
) -> None:
    session_id = await created(engine, ttl=HOUR, idle_ttl=HOUR)
    await aged(database, tenant, session_id, 3601)
    await swept(engine, session_id, 2)
    late = engine.Append(session_id=session_id, messages=[said("late")])
    assert (await refusal(late)).reason == "SESSION_EXPIRED"
    assert (await refusal(engine.CloseSession(session_id=session_id))).reason == "SESSION_EXPIRED"
    assert (await refusal(engine.RestoreSession(session_id=session_id))).reason == "SESSION_EXPIRED"
    restored = (await engine.RestoreSession(session_id=session_id, ttl={"seconds": 100})).session
    assert (restored.status, restored.version, restored.HasField("idle_ttl")) == (SESSION_STATUS_ACTIVE, 3, False)
    appended = await engine.Append(session_id=session_id, messages=[said("again")])
    assert appended.receipt.version == 4
    await aged(database, tenant, session_id, 101)
    again = await swept(engine, session_id, 5)
    assert again.status == SESSION_STATUS_EXPIRED
    hashes = [commit.request_id_hash for commit in (await engine.ListCommits(session_id=session_id)).commits]
    assert len(set(hashes)) == len(hashes)


async def test_a_closed_session_stays_closed(engine: Rpc, database: Database, tenant: str) -> None:
    session_id = await created(engine, ttl=HOUR)
    await engine.CloseSession(session_id=session_id)
    await aged(database, tenant, session_id, 3601)
    await look_now(database, tenant, session_id)
    assert (await session_of(engine, session_id)).status == SESSION_STATUS_CLOSED
    assert (await session_of(engine, session_id)).version == 2


@pytest.mark.parametrize("life", ["expire_time", "idle_ttl"])
async def test_a_shorter_life_is_looked_at_sooner_and_a_longer_one_again(
    engine: Rpc, database: Database, tenant: str, life: str
) -> None:
    session_id = await created(engine)
    assert await looked_at(database, tenant, session_id) is None
    created_at = (await session_of(engine, session_id)).create_time.ToDatetime(UTC)

    async def lives(seconds: int) -> None:
        value: dict[str, Any] = {"idle_ttl": {"seconds": seconds}}
        if life == "expire_time":
            end = Timestamp()
            end.FromDatetime(created_at + timedelta(seconds=seconds))
            value = {"expire_time": end}
        await engine.UpdateSession(session={"session_id": session_id} | value, update_mask={"paths": [life]})

    await lives(3000)
    assert await looked_at(database, tenant, session_id) == created_at + timedelta(seconds=3000)
    await lives(1000)
    assert await looked_at(database, tenant, session_id) == created_at + timedelta(seconds=1000)
    await lives(2000)
    await look_now(database, tenant, session_id)
    assert await looked_at(database, tenant, session_id) == created_at + timedelta(seconds=2000)
    await engine.UpdateSession(session={"session_id": session_id}, update_mask={"paths": [life]})
    await look_now(database, tenant, session_id)
    assert await looked_at(database, tenant, session_id) is None


async def test_a_new_life_is_looked_at(engine: Rpc, database: Database, tenant: str) -> None:
    session_id = await created(engine, ttl=HOUR)
    await aged(database, tenant, session_id, 3601)
    await swept(engine, session_id, 2)
    restored = (await engine.RestoreSession(session_id=session_id, ttl=HOUR)).session
    assert await looked_at(database, tenant, session_id) == restored.expire_time.ToDatetime(UTC)


async def test_appends_do_not_touch_when_a_session_is_looked_at(engine: Rpc, database: Database, tenant: str) -> None:
    session_id = await created(engine, idle_ttl=HOUR)
    row = "select xmin::text, sweep_after from lockstitch.sweeps where session_key = $1"
    before = await database.as_superuser(row, ids.session_key(tenant, session_id))
    for _ in range(5):
        await engine.Append(session_id=session_id, messages=[said("hi")])
    assert await database.as_superuser(row, ids.session_key(tenant, session_id)) == before
    await look_now(database, tenant, session_id)
    session = await session_of(engine, session_id)
    assert await looked_at(database, tenant, session_id) == session.last_activity_time.ToDatetime(UTC) + timedelta(
        hours=1
    )
    assert (session.status, session.version) == (SESSION_STATUS_ACTIVE, 6)


async def test_a_session_whose_run_holds_its_lease_is_not_idle(engine: Rpc, database: Database, tenant: str) -> None:
    session_id = await created(engine, idle_ttl={"seconds": 100})
    run = await started(engine, session_id, lease={"seconds": 1000})
    await aged(database, tenant, session_id, 900)
    await look_now(database, tenant, session_id)
    session = await session_of(engine, session_id)
    assert (session.status, session.version) == (SESSION_STATUS_ACTIVE, 2)
    await engine.Append(session_id=session_id, fence=fence_of(run), messages=[said("still at it")])
    await aged(database, tenant, session_id, 99)
    await engine.RenewRun(session_id=session_id, fence=fence_of(run), lease={"seconds": 10})
    await aged(database, tenant, session_id, 11)
    expired = await swept(engine, session_id, 4)
    assert (expired.status, expired.active_run_id) == (SESSION_STATUS_EXPIRED, "")
    ended = (await engine.GetRun(session_id=session_id, run_id=run.run_id)).run
    assert (ended.status, ended.ended_version) == (6, 4)


async def test_a_run_that_ends_before_its_lease_leaves_a_session_that_is_looked_at_in_time(
    engine: Rpc, database: Database, tenant: str
) -> None:
    session_id = await created(engine, idle_ttl={"seconds": 100})
    run = await started(engine, session_id, lease=HOUR)
    await aged(database, tenant, session_id, 1000)
    await look_now(database, tenant, session_id)
    await engine.FinishRun(session_id=session_id, fence=fence_of(run), status=2)
    await aged(database, tenant, session_id, 101)
    assert (await swept(engine, session_id, 4)).status == SESSION_STATUS_EXPIRED


async def test_a_lapsed_run_of_a_session_without_an_end_is_not_looked_at_all_the_time(
    engine: Rpc, database: Database, tenant: str
) -> None:
    session_id = await created(engine)
    run = await started(engine, session_id, lease={"seconds": 100})
    await aged(database, tenant, session_id, 101)
    await look_now(database, tenant, session_id)
    (lease,) = await database.as_superuser(
        "select lease_expire_time from lockstitch.run_leases where session_key = $1",
        ids.session_key(tenant, session_id),
    )
    assert await looked_at(database, tenant, session_id) == lease[0] + timedelta(seconds=600)
    await engine.RenewRun(session_id=session_id, fence=fence_of(run))


async def test_a_renewal_brings_no_expired_session_back(engine: Rpc, database: Database, tenant: str) -> None:
    session_id = await created(engine, idle_ttl={"seconds": 100})
    run = await started(engine, session_id, lease={"seconds": 200})
    # Nobody looks meanwhile.
    await database.as_superuser(
        "delete from lockstitch.sweeps where session_key = $1", ids.session_key(tenant, session_id)
    )
    await aged(database, tenant, session_id, 150)
    await engine.RenewRun(session_id=session_id, fence=fence_of(run), lease={"seconds": 100})
    await aged(database, tenant, session_id, 101)
    assert (await session_of(engine, session_id)).status == SESSION_STATUS_EXPIRED
    renewal = engine.RenewRun(session_id=session_id, fence=fence_of(run), lease=HOUR)
    assert (await refusal(renewal)).reason == "SESSION_EXPIRED"
    assert (await session_of(engine, session_id)).status == SESSION_STATUS_EXPIRED
    await engine.RestoreSession(session_id=session_id, ttl=HOUR)
    await engine.RenewRun(session_id=session_id, fence=fence_of(run))


async def test_an_end_that_is_set_ends_a_run_with_its_session_in_one_commit(
    engine: Rpc, database: Database, tenant: str
) -> None:
    session_id = await created(engine, messages=[called("c1", "c2")], ttl={"seconds": 100})
    run = await started(engine, session_id, lease=HOUR)
    await engine.UpdateToolCall(session_id=session_id, fence=fence_of(run), call_id="c1", status=2)
    await aged(database, tenant, session_id, 101)
    expired = await swept(engine, session_id, 4)
    assert (expired.status, expired.active_run_id) == (SESSION_STATUS_EXPIRED, "")
    ended = (await engine.GetRun(session_id=session_id, run_id=run.run_id)).run
    assert (ended.status, ended.ended_version) == (6, 4)
    first, second = (await engine.ListToolCalls(session_id=session_id)).tool_calls
    assert (first.status, first.ended_version, second.status) == (7, 4, 1)
    commit = (await engine.ListCommits(session_id=session_id, after_version=3)).commits[0]
    assert (commit.session.status, commit.run.run_id, len(commit.tool_calls)) == (SESSION_STATUS_EXPIRED, run.run_id, 1)
    await engine.RestoreSession(session_id=session_id, ttl=HOUR)
    late = engine.Append(session_id=session_id, fence=fence_of(run), messages=[said("late")])
    assert (await refusal(late)).reason == "RUN_FENCED"


async def test_what_is_being_drafted_when_a_session_expires_is_stored_before(
    engine: Rpc, database: Database, tenant: str
) -> None:
    session_id = await created(engine, ttl={"seconds": 100})
    await drafted(database, tenant, session_id, "half a sent")
    await aged(database, tenant, session_id, 101)
    assert (await swept(engine, session_id, 3)).status == SESSION_STATUS_EXPIRED
    (message,) = (await engine.ListMessages(session_id=session_id)).messages
    assert (message.role, message.parts[0].text, message.incomplete) == (ASSISTANT, "half a sent", True)


async def test_a_deleted_session_is_purged_when_its_time_has_come(engine: Rpc, database: Database, tenant: str) -> None:
    session_id = await created(engine, ttl=HOUR)
    deleted = (await engine.DeleteSession(session_id=session_id)).session
    await aged(database, tenant, session_id, 3601)
    await look_now(database, tenant, session_id)
    kept = await session_of(engine, session_id)
    assert (kept.status, kept.version) == (SESSION_STATUS_DELETED, deleted.version)
    await aged(database, tenant, session_id, 30 * 86_400)
    async with asyncio.timeout(20):
        while await database.as_superuser(
            "select from lockstitch.sessions where session_key = $1", ids.session_key(tenant, session_id)
        ):
            await asyncio.sleep(POLL_SECONDS)
    assert (await refusal(engine.GetSession(session_id=session_id, show_deleted=True))).reason == "SESSION_NOT_FOUND"


async def test_a_session_that_cannot_be_swept_keeps_no_other_waiting(
    postgres: EmbeddedPostgres, start_server: Callable[..., ServerProcess], call_as: As
) -> None:
    async with made_database(postgres, TEMPLATE) as database:
        tenant = fresh("tenant")
        # More of them than are looked at at once, all due for longer than the one that can be.
        await database.as_superuser(
            "alter table lockstitch.commits add constraint none_for_broken check (tenant_id <> 'broken' or version = 1)"
        )
        server = start_server(database, **SETTINGS)
        broken = call_as("e", "engine", tenant="broken", to=server)
        for _ in range(30):
            await created(broken, ttl={"seconds": 1})
        engine = call_as("e", "engine", tenant=tenant, to=server)
        session_id = await created(engine, ttl={"seconds": 1})
        assert (await swept(engine, session_id, 2)).status == SESSION_STATUS_EXPIRED
        async with asyncio.timeout(20):
            while await database.as_superuser(
                "select from lockstitch.sweeps where tenant_id = 'broken' and sweep_after < now() + interval '10 s'"
            ):
                await asyncio.sleep(POLL_SECONDS)
        assert server.stop() == 0


async def test_readers_on_every_server_hear_of_an_expiry(
    engine: Rpc, servers: list[ServerProcess], database: Database, tenant: str
) -> None:
    session_id = await created(engine, ttl=HOUR)
    token = servers[0].token(tenant=tenant, user="e", role="engine")
    async with (
        Reader([servers[1].target], token, session_id) as one,
        Reader([servers[2].target], token, session_id) as two,
    ):
        await one.caught_up()
        await two.caught_up()
        await aged(database, tenant, session_id, 3601)
        for reader in (one, two):
            await reader.reached(2)
            assert reader.commits[-1].session.status == SESSION_STATUS_EXPIRED


async def test_after_all_that_nothing_is_left_over(servers: list[ServerProcess], database: Database) -> None:
    assert servers
    assert [what for what in await orphans(database) if "looked at" not in what] == []
