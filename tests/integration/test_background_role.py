"""The background role: it sees when sessions of every tenant are due and nothing else, and alone deletes for good."""

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from factories import fresh
from lockstitch_server import ids
from lockstitch_server.server_process import ServerProcess
from support.callers import Caller
from support.databases import Database
from support.full_life import lived
from support.orphans import PARTS
from support.rpc import Rpc

TENANTS = ("t1", "t2")
BACKGROUND, APP = "lockstitch_background", "lockstitch_app"
ERASED = {"commits", "session_details_history", "messages_history", "memory_history", "tool_calls_history", "runs"}
"""What is only deleted by a purge, which is the background role's."""

Connection = asyncpg.Connection


@pytest.fixture(scope="module", autouse=True)
async def lives(database: Database, server: ServerProcess) -> dict[str, str]:
    """Give each of two tenants a session with rows in every table, and one that was purged."""
    sessions = {}
    for tenant in TENANTS:
        async with Caller(server.target, server.token(tenant=tenant, user="a", role="admin")) as caller:
            admin = Rpc(caller)
            sessions[tenant] = (await lived(admin, database, tenant, "m")).session_id
            gone = (await admin.CreateSession(user_id="u1")).session.session_id
            await admin.PurgeSession(session_id=gone)
    # Its sweeper would change what is compared here.
    assert server.stop() == 0
    return sessions


@pytest.fixture
async def connections(database: Database) -> AsyncIterator[dict[str, "Connection[Any]"]]:
    """A connection of each role, as servers have them."""
    made = {role: await asyncpg.connect(database.app_url, server_settings={"role": role}) for role in (BACKGROUND, APP)}
    yield made
    for connection in made.values():
        await connection.close()


@pytest.fixture
async def background(connections: dict[str, "Connection[Any]"]) -> "Connection[Any]":
    return connections[BACKGROUND]


@pytest.fixture(scope="module")
async def tables(database: Database) -> list[str]:
    return ["sessions", "purged_sessions", *(row["relname"] for row in await database.as_superuser(PARTS))]


async def test_without_a_tenant_it_sees_when_all_are_due_and_no_other_row(
    background: "Connection[Any]", tables: list[str]
) -> None:
    for table in tables:
        seen = await background.fetch(f"select distinct tenant_id from lockstitch.{table}")
        assert {row["tenant_id"] for row in seen} == (set(TENANTS) if table == "sweeps" else set()), table


async def test_what_it_sees_of_every_tenant_holds_nothing_of_them(database: Database) -> None:
    columns = await database.as_superuser(
        "select column_name from information_schema.columns where table_schema = 'lockstitch' and table_name = 'sweeps'"
    )
    assert {row["column_name"] for row in columns} == {"session_key", "sweep_after", "tenant_id"}


async def test_with_a_tenant_it_sees_and_changes_that_tenants_rows(
    background: "Connection[Any]", tables: list[str]
) -> None:
    for table in tables:
        async with background.transaction():
            await background.execute("select set_config('app.tenant', 't1', true)")
            seen = await background.fetch(f"select distinct tenant_id from lockstitch.{table}")
            assert {row["tenant_id"] for row in seen} == (set(TENANTS) if table == "sweeps" else {"t1"}), table
            if table != "purged_sessions":
                theirs = f"update lockstitch.{table} set session_key = session_key where tenant_id = 't2'"
                assert await background.execute(theirs) == "UPDATE 0", table
                assert await background.execute(f"delete from lockstitch.{table} where tenant_id = 't2'") == "DELETE 0"


async def test_it_changes_no_sweep_of_a_tenant_that_it_did_not_name(
    background: "Connection[Any]", database: Database
) -> None:
    before = await database.as_superuser("select * from lockstitch.sweeps order by session_key")
    assert await background.execute("update lockstitch.sweeps set sweep_after = now()") == "UPDATE 0"
    assert await background.execute("delete from lockstitch.sweeps") == "DELETE 0"
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
        await background.execute(
            "insert into lockstitch.sweeps (session_key, sweep_after, tenant_id) "
            "values (gen_random_uuid(), now(), 't1')"
        )
    assert await database.as_superuser("select * from lockstitch.sweeps order by session_key") == before


async def test_the_app_sees_no_sweep_without_a_tenant(connections: dict[str, "Connection[Any]"]) -> None:
    assert await connections[APP].fetch("select * from lockstitch.sweeps") == []
    assert await connections[APP].fetch("select * from lockstitch.sessions_to_sweep_v1(10)") == []


async def test_only_it_deletes_the_log_the_histories_and_runs_and_writes_what_is_left(
    connections: dict[str, "Connection[Any]"], tables: list[str]
) -> None:
    async def may(role: str, what: str, table: str) -> bool:
        asked = "select has_table_privilege(current_user, $1, $2)"
        return bool(await connections[role].fetchval(asked, f"lockstitch.{table}", what))

    for table in tables:
        assert await may(BACKGROUND, "delete", table) is (table != "purged_sessions"), table
        assert await may(APP, "delete", table) is (table not in ERASED | {"purged_sessions", "sweeps"}), table
        assert await may(APP, "insert", table) is (table != "purged_sessions"), table
        for role in (BACKGROUND, APP):
            assert await may(role, "update", table) is (table != "purged_sessions"), table
            assert not await may(role, "truncate", table), table
    assert await may(BACKGROUND, "insert", "purged_sessions")


@pytest.mark.parametrize("call", ["purge_session_v1($1, $2, $3, $4, true)", "sweep_session_v1($1, $2, '0', '0')"])
async def test_the_app_purges_and_expires_nothing(
    connections: dict[str, "Connection[Any]"], database: Database, lives: dict[str, str], call: str
) -> None:
    session_id = lives["t1"]
    key = ids.session_key("t1", session_id)
    arguments = ["t1", key, session_id, ids.request_id_hash(fresh())][: call.count("$")]
    if "sweep" in call:
        await database.as_superuser(
            "update lockstitch.sessions set status = 4, purge_time = now() where session_key = $1", key
        )
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="permission denied"):
        await connections[APP].fetch(f"select * from lockstitch.{call}", *arguments)
    assert await database.as_superuser("select from lockstitch.commits where session_key = $1", key)
    await database.as_superuser(
        "update lockstitch.sessions set status = 1, purge_time = null where session_key = $1", key
    )
