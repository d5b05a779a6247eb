"""CONTRACT 6: the second wall holds though a statement forgot the tenant."""

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from factories import fresh
from support.databases import Database
from support.every_change import UPDATES, ready_for
from support.rpc import Create, Rpc

WITHOUT_TENANT = {"store", "migrations"}


@pytest.fixture
async def app(shared_database: Database) -> "AsyncIterator[asyncpg.Connection[Any]]":
    """A connection such as the server's are."""
    connection = await asyncpg.connect(shared_database.app_url, server_settings={"role": "lockstitch_app"})
    yield connection
    await connection.close()


async def _tables(database: Database) -> list[str]:
    rows = await database.as_superuser("select tablename from pg_tables where schemaname = 'lockstitch' order by 1")
    return [row[0] for row in rows if row[0] not in WITHOUT_TENANT]


async def _readable(app: "asyncpg.Connection[Any]", table: str) -> bool:
    return bool(await app.fetchval(f"select has_table_privilege('lockstitch.{table}', 'select')"))


async def test_every_table_with_a_tenant_is_walled_for_its_owner_too(shared_database: Database) -> None:
    rows = await shared_database.as_superuser(
        """
        select c.relname, c.relrowsecurity and c.relforcerowsecurity
            and exists (select from pg_policy p where p.polrelid = c.oid)
        from pg_class c
        join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'
        where c.relnamespace = 'lockstitch'::regnamespace and c.relkind = 'r'
        """
    )
    assert len(rows) >= 10
    assert [row[0] for row in rows if not row[1]] == []


async def test_no_row_is_seen_without_a_tenant_or_with_another(
    engine: Rpc, create: Create, app: "asyncpg.Connection[Any]", shared_database: Database, tenant: str
) -> None:
    for name in UPDATES:
        await engine.send(UPDATES[name].on(await ready_for(name, engine, create, labels={"a": "b"})))
    seen = 0
    for table in await _tables(shared_database):
        if not await _readable(app, table):
            continue
        for named, expected in (("", False), (fresh("tenant"), False), (tenant, None)):
            async with app.transaction():
                await app.execute("select set_config('app.tenant', $1, true)", named)
                rows = await app.fetchval(f"select count(*) from lockstitch.{table}")
            assert expected is None or rows == 0, (table, named)
            seen += rows if expected is None else 0
        assert await app.fetchval(f"select count(*) from lockstitch.{table}") == 0
    assert seen > 50


async def test_no_row_of_another_tenant_is_written(create: Create, app: "asyncpg.Connection[Any]", tenant: str) -> None:
    await create(labels={"a": "b"})
    other = fresh("tenant")
    async with app.transaction():
        await app.execute("select set_config('app.tenant', $1, true)", other)
        assert await app.execute("update lockstitch.sessions set agent = 'x'") == "UPDATE 0"
        assert await app.execute("delete from lockstitch.session_labels") == "DELETE 0"
    transaction = app.transaction()
    await transaction.start()
    await app.execute("select set_config('app.tenant', $1, true)", tenant)
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
        await app.execute("update lockstitch.sessions set tenant_id = $1", other)
    await transaction.rollback()


@pytest.mark.parametrize(
    "statement",
    [
        "truncate lockstitch.sessions",
        "alter table lockstitch.sessions disable row level security",
        "drop policy sessions_of_tenant on lockstitch.sessions",
        "alter role lockstitch_app bypassrls",
    ],
)
async def test_the_servers_role_cannot_take_the_wall_down(app: "asyncpg.Connection[Any]", statement: str) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await app.execute(statement)
