"""The background role's statements read an index and few pages, also where they were planned on empty tables."""

from collections.abc import AsyncIterator
from datetime import timedelta
from uuid import UUID

import pytest

from factories import answered, called, fresh, patched, said
from lockstitch_server import ids
from lockstitch_server.server_process import ServerProcess
from lockstitch_server.store.pool import BACKGROUND_ROLE
from support.callers import Caller
from support.databases import Database
from support.drafted import drafted
from support.measured import UNWATCHED, Measured, executed, measured
from support.orphans import orphans
from support.rpc import Rpc

TENANT = "t1"
SWEEPS = 100_000
DUE = 1000
PLANNINGS = 8
"""A plan is kept after five executions."""
MINUTES = timedelta(minutes=10)
MESSAGES = 50_000
TIMEOUT = timedelta(minutes=2)
"""As the server's background role has it."""

FILL = """
insert into lockstitch.sweeps (session_key, sweep_after, tenant_id)
select gen_random_uuid(), now() + (n - {due}) * interval '1 minute', 'tenant-' || n % 100
from generate_series(1, {number}) as n
"""
PURGED = """
select c.relname
from pg_class c
join pg_attribute a on a.attrelid = c.oid and a.attname = 'session_key'
where c.relnamespace = 'lockstitch'::regnamespace and c.relkind = 'r' and c.relname <> 'purged_sessions'
"""
MANY_MESSAGES = """
insert into lockstitch.messages (session_key, seq, version, create_time, role, tenant_id, body)
select '{key}', 3 + n, 1, now(), 1, '{tenant}', convert_to(repeat('word ', 60), 'UTF8')
from generate_series(1, {number}) as n
"""
MANY_COMMITS = """
insert into lockstitch.commits (
    session_key, version, request_hash, commit_time, last_seq, memory_version, message_count, new_messages,
    new_tool_calls, method, principal_role, tenant_id, principal_subject, digest
)
select '{key}', 10 + n, gen_random_uuid(), now(), 3 + n, 0, 0, 1, 0, 2, 2, '{tenant}', 'e', '\\x01'
from generate_series(1, {number}) as n
"""


@pytest.fixture(scope="module")
async def planned(database: Database) -> AsyncIterator[Measured]:
    """The background role's connection, whose plans were made while there was next to nothing."""
    async with measured(database, role=BACKGROUND_ROLE, statement_timeout=TIMEOUT) as made:
        for _ in range(PLANNINGS):
            await made.fetch("sessions_to_sweep", 10)
            await made.fetch("sweep_session", "t", ids.session_key("t", fresh()), MINUTES, MINUTES)
            await made.fetch("purge_session", "t", ids.session_key("t", "s"), "s", ids.request_id_hash("r"), True)
            await made.fetch("sessions_of_user", "t", "u", 50)
        yield made


@pytest.fixture(scope="module")
async def full(database: Database, planned: Measured) -> Measured:
    await executed(database, UNWATCHED)
    await executed(database, FILL.format(number=SWEEPS, due=DUE))
    return planned


async def test_what_is_due_is_found_by_its_time_at_either_end(full: Measured, database: Database) -> None:
    work = await full.work(lambda: full.fetch("sessions_to_sweep", 10))
    assert work.scans == {"sweeps_by_time": 2}, work
    assert await full.buffers("sessions_to_sweep", 10) < 100
    found = {row["session_key"] for row in await full.fetch("sessions_to_sweep", 10)}
    due = await database.as_superuser(
        "select session_key, tenant_id from lockstitch.sweeps where sweep_after <= now() order by sweep_after"
    )
    assert len(due) == DUE
    assert found == {row["session_key"] for row in [*due[:10], *due[-10:]]}


async def test_where_nothing_is_due_nothing_is_read_of_what_will_be(full: Measured, database: Database) -> None:
    await executed(database, "delete from lockstitch.sweeps where sweep_after <= now()")
    assert await full.fetch("sessions_to_sweep", 10) == []
    work = await full.work(lambda: full.fetch("sessions_to_sweep", 10))
    assert work.scans == {"sweeps_by_time": 2}, work
    assert await full.buffers("sessions_to_sweep", 10) < 100


async def test_the_largest_session_is_purged_in_one_statement_that_reads_only_its_rows(
    full: Measured, server: ServerProcess, database: Database
) -> None:
    key, other = ids.session_key(TENANT, "large"), ids.session_key(TENANT, "other")
    async with Caller(server.target, server.token(tenant=TENANT, user="e", role="engine")) as caller:
        rpc = Rpc(caller)
        for session_id in ("large", "other"):
            await lived(rpc, database, session_id)
    for sql in (MANY_MESSAGES, MANY_COMMITS):
        await executed(database, sql.format(key=key, tenant=TENANT, number=MESSAGES))
    tables = [row["relname"] for row in await database.as_superuser(PURGED)]
    for table in tables:
        assert await rows_of(database, table, key), f"{table} has no row to purge"
    before = {table: await rows_of(database, table, other) for table in tables}

    (purged,) = await full.fetch("purge_session", TENANT, key, "large", ids.request_id_hash("r"), False)
    assert purged["r_outcome"] == "run_active"
    outcome: list[str] = []

    async def purge() -> None:
        (row,) = await full.fetch("purge_session", TENANT, key, "large", ids.request_id_hash("r"), True)
        outcome.append(row["r_outcome"])

    work = await full.work(purge)
    assert outcome == ["purged"]
    assert not work.whole, work
    for table in tables:
        assert await rows_of(database, table, key) == 0, table
        assert await rows_of(database, table, other) == before[table], table
    assert await orphans(database, but={"sweeps"}) == []


async def lived(rpc: Rpc, database: Database, session_id: str) -> None:
    """Give a session a row in every table."""
    on = {"session_id": session_id}
    messages = [said("a"), called("c1"), answered("c1")]
    await rpc.CreateSession(**on, messages=messages, labels={"k": "v"}, memory={"goal": "g"}, ttl={"seconds": 1000})
    await rpc.RemoveMessages(**on, last=1)
    await rpc.UpdateMemory(**on, change=patched('{"goal":"h"}'))
    await rpc.UpdateSession(session=on | {"title": "t"}, update_mask={"paths": ["title"]})
    checkpoint = {
        "checkpoint_id": "1",
        "values": [{"channel": "c", "version": "1", "data": b"v"}],
        "writes": [{"task_id": "t", "channel": "c", "data": b"w"}],
    }
    await rpc.PutCheckpoint(**on, checkpoint=checkpoint)
    await rpc.StartRun(**on, lease={"seconds": 600})
    await drafted(database, TENANT, session_id, "so far")


async def rows_of(database: Database, table: str, key: UUID) -> int:
    (row,) = await database.as_superuser(f"select count(*) from lockstitch.{table} where session_key = $1", key)
    return int(row[0])
