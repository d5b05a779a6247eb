"""The second wall: raw SQL as the server's role sees the named tenant's rows, and none where none is named."""

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from factories import answered, called, keyed, patched, said
from lockstitch.v1.session_pb2 import Session
from lockstitch_server.server_process import ServerProcess
from support.callers import Caller
from support.databases import Database
from support.drafted import drafted
from support.rpc import Rpc

TENANTS = ("t1", "t2")
TABLES = (
    "checkpoint_values",
    "checkpoint_writes",
    "checkpoints",
    "commits",
    "draft_steps",
    "drafts",
    "memory",
    "memory_history",
    "messages",
    "messages_history",
    "purged_sessions",
    "run_leases",
    "runs",
    "session_details",
    "session_details_history",
    "session_labels",
    "sessions",
    "sweeps",
    "tool_calls",
    "tool_calls_history",
)
CHANGED = tuple(table for table in TABLES if table != "purged_sessions")
"""Tables that the app's role may insert into and update."""


@pytest.fixture(scope="module", autouse=True)
async def rows_everywhere(database: Database, server: ServerProcess) -> None:
    """Give each of two tenants a row in every table."""
    for tenant in TENANTS:
        async with Caller(server.target, server.token(tenant=tenant, user="e", role="engine")) as caller:
            rpc = Rpc(caller)
            messages = [said("a", message_id="mine"), called("c1"), answered("c1")]
            await rpc.CreateSession(session_id="s", messages=messages, labels={"k": "v"}, memory={"goal": "g"})
            await rpc.RemoveMessages(session_id="s", last=1)
            await rpc.UpdateMemory(session_id="s", change=patched('{"goal":"h"}'))
            await rpc.UpdateMemory(session_id="s", change=keyed(a="1"))
            await rpc.UpdateSession(session=Session(session_id="s", title="t"), update_mask={"paths": ["title"]})
            await rpc.StartRun(session_id="s")
            value, write = {"channel": "c", "version": "1", "data": b"x"}, {"task_id": "t", "channel": "c"}
            checkpoint = {"checkpoint_id": "1", "values": [value], "writes": [write]}
            await rpc.PutCheckpoint(session_id="s", checkpoint=checkpoint)
            await drafted(database, tenant, "s", "so far")
            await rpc.CreateSession(session_id="gone")
        async with Caller(server.target, server.token(tenant=tenant, user="a", role="admin")) as caller:
            await Rpc(caller).PurgeSession(session_id="gone")
    for table in TABLES:
        for tenant in TENANTS:
            rows = await database.as_superuser(f"select from lockstitch.{table} where tenant_id = $1", tenant)
            assert rows, f"{table} has no row of {tenant}"


@pytest.fixture
async def app(database: Database) -> AsyncIterator["asyncpg.Connection[Any]"]:
    """A connection as the server's are."""
    connection = await asyncpg.connect(database.app_url, server_settings={"role": "lockstitch_app"})
    yield connection
    await connection.close()


async def test_the_servers_roles_own_nothing_and_pass_no_wall(
    database: Database, app: "asyncpg.Connection[Any]"
) -> None:
    login, role = await app.fetchval("select array[session_user::text, current_user::text]")
    assert role == "lockstitch_app"
    rows = await database.as_superuser(
        """
        select r.rolname, r.rolsuper or r.rolbypassrls or r.rolcreaterole or r.rolcreatedb or r.rolreplication as may,
            exists (select from pg_class c where c.relowner = r.oid) as owns,
            exists (select from pg_proc p where p.proowner = r.oid) as owns_functions,
            pg_has_role(r.rolname, 'lockstitch_owner', 'member') as is_owner
        from pg_roles r
        where r.rolname = any($1)
        """,
        [login, role, "lockstitch_background"],
    )
    assert [tuple(row)[1:] for row in rows] == [(False, False, False, False)] * 3


@pytest.mark.parametrize("table", TABLES)
async def test_without_a_tenant_there_are_no_rows(app: "asyncpg.Connection[Any]", table: str) -> None:
    assert await app.fetchval(f"select count(*) from lockstitch.{table}") == 0
    async with app.transaction():
        # What is left of a setting that a transaction had made.
        await app.execute("select set_config('app.tenant', '', true)")
        assert await app.fetchval(f"select count(*) from lockstitch.{table}") == 0
    async with app.transaction():
        await app.execute("select set_config('app.tenant', 't1', true)")
    assert await app.fetchval(f"select count(*) from lockstitch.{table}") == 0
    if table in CHANGED:
        assert await app.execute(f"update lockstitch.{table} set tenant_id = tenant_id") == "UPDATE 0"


FORGED = "json_populate_record(null::lockstitch.{}, (to_jsonb(t) || jsonb_build_object('tenant_id', 't2'))::json)"
"""A row of ours, said to be theirs."""


async def as_first_tenant(app: "asyncpg.Connection[Any]", sql: str) -> None:
    async with app.transaction():
        await app.execute("select set_config('app.tenant', 't1', true)")
        await app.execute(sql)


async def test_what_is_left_of_purged_sessions_is_not_the_apps_to_make_or_change(
    app: "asyncpg.Connection[Any]",
) -> None:
    for sql in (
        "update lockstitch.purged_sessions set purge_time = purge_time",
        "insert into lockstitch.purged_sessions select * from lockstitch.purged_sessions",
        "delete from lockstitch.purged_sessions",
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError, match="permission denied"):
            await as_first_tenant(app, sql)


@pytest.mark.parametrize("table", CHANGED)
async def test_another_tenants_rows_are_not_there_and_cannot_be_made(
    database: Database, app: "asyncpg.Connection[Any]", table: str
) -> None:
    theirs = await database.as_superuser(f"select t::text from lockstitch.{table} t where tenant_id = 't2' order by 1")
    async with app.transaction():
        await app.execute("select set_config('app.tenant', 't1', true)")
        seen = await app.fetch(f"select distinct tenant_id from lockstitch.{table}")
        assert [row["tenant_id"] for row in seen] == ["t1"]
        changed = await app.execute(f"update lockstitch.{table} set session_key = session_key where tenant_id = 't2'")
        assert changed == "UPDATE 0"
    for forged in (
        f"update lockstitch.{table} set tenant_id = 't2'",
        f"insert into lockstitch.{table} select ({FORGED.format(table)}).* from lockstitch.{table} t limit 1",
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
            await as_first_tenant(app, forged)
    assert theirs == await database.as_superuser(
        f"select t::text from lockstitch.{table} t where tenant_id = 't2' order by 1"
    )


async def test_what_only_a_purge_deletes_the_app_does_not(app: "asyncpg.Connection[Any]") -> None:
    for table in TABLES:
        if table in {"commits", "runs", "sweeps", "purged_sessions"} or table.endswith("_history"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError, match="permission denied"):
                await app.execute(f"delete from lockstitch.{table}")


@pytest.mark.parametrize("table", TABLES)
async def test_an_owners_backfill_changes_nothing_until_the_wall_is_lifted(database: Database, table: str) -> None:
    owner = await asyncpg.connect(database.owner_url)
    try:
        backfill = f"update lockstitch.{table} set tenant_id = tenant_id"
        assert await owner.execute(backfill) == "UPDATE 0"
        async with owner.transaction():
            await owner.execute(f"alter table lockstitch.{table} no force row level security")
            changed = await owner.execute(backfill)
            await owner.execute(f"alter table lockstitch.{table} force row level security")
        assert int(changed.removeprefix("UPDATE ")) >= len(TENANTS)
        assert await owner.execute(backfill) == "UPDATE 0"
    finally:
        await owner.close()
