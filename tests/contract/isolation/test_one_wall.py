"""CONTRACT 6: the database's wall holds by itself, where the application has none between tenants."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import asyncpg
import grpc
import pytest

from factories import fresh
from lockstitch_server.embedded import EmbeddedPostgres
from lockstitch_server.server_process import ServerProcess
from support.databases import Database
from support.matrix import NOWHERE, RPCS, Asker, prepare, recipe, request_on
from support.one_wall import open_database, open_server, predicates_written
from support.rpc import Refusal
from support.strangers import LEFT_OUT, fingerprint, learns_nothing, token_of

Ask = Callable[..., Asker]
NAMING = [rpc for rpc in RPCS if recipe(rpc).names and not recipe(rpc).creates]


@pytest.fixture(scope="module")
async def opened(postgres: EmbeddedPostgres) -> AsyncIterator[Database]:
    """A database whose functions name no tenant."""
    async with open_database(postgres) as (database, taken_out):
        assert taken_out == predicates_written()
        assert taken_out > 150
        yield database


@pytest.fixture(scope="module")
async def open_door(opened: Database, session_folder: Path) -> AsyncIterator[ServerProcess]:
    """A server on it."""
    server = open_server(opened, session_folder / "keys-only")
    yield server
    assert server.stop() == 0


@pytest.mark.parametrize("rpc", NAMING)
async def test_another_tenant_learns_nothing_and_changes_nothing(
    rpc: str, open_door: ServerProcess, opened: Database, asker: Ask
) -> None:
    engine, theirs = asker(open_door, tenant=fresh("tenant")), fresh("tenant")
    stranger = asker(open_door, tenant=theirs, role="admin")
    place, own = await prepare(rpc, engine), await prepare(rpc, asker(open_door, tenant=theirs), "u9")
    if rpc == "ListSessions":
        await prepare(rpc, engine)
    token = await token_of(rpc, engine, place)
    before = await fingerprint(opened)
    answers = await learns_nothing(rpc, stranger, own=own, foreign=place, token=token)
    assert await fingerprint(opened) == before
    if recipe(rpc).names != "user_id":
        refused = answers[0]
        assert isinstance(refused, Refusal)
        assert (refused.code, refused.reason) == (grpc.StatusCode.NOT_FOUND, "SESSION_NOT_FOUND")
    assert not any(b"secret" in answer for answer in answers if isinstance(answer, bytes))
    assert isinstance(await stranger.ask(rpc, request_on(rpc, own)), bytes)


async def test_without_that_wall_too_there_is_none(
    postgres: EmbeddedPostgres, session_folder: Path, asker: Ask
) -> None:
    """The application's wall is down indeed: with the database's, everything is open."""
    async with open_database(postgres) as (database, _):
        rows = await database.as_superuser("select tablename from pg_tables where schemaname = 'lockstitch'")
        for (table,) in rows:
            await database.as_owner(f"alter table lockstitch.{table} disable row level security")
        server = open_server(database, session_folder / "keys-only")
        try:
            place = await prepare("GetContext", asker(server, tenant=fresh("tenant")))
            stranger = asker(server, tenant=fresh("tenant"))
            for rpc in ("GetSession", "ListMessages", "GetContext", "ListCommits", "ListSessions", "Append"):
                assert isinstance(await stranger.ask(rpc, request_on(rpc, place)), bytes), rpc
            context = await stranger.ask("GetContext", request_on("GetContext", place))
            assert isinstance(context, bytes)
            assert b"secret" in context
            assert isinstance(await stranger.ask("GetContext", request_on("GetContext", NOWHERE)), Refusal)
        finally:
            server.stop()


async def test_raw_sql_as_the_servers_role_reaches_one_tenant_in_every_table(
    open_door: ServerProcess, opened: Database, asker: Ask
) -> None:
    tenant, other = fresh("tenant"), fresh("tenant")
    await prepare("GetRun", asker(open_door, tenant=tenant))
    app: Any = await asyncpg.connect(opened.app_url, server_settings={"role": "lockstitch_app"})
    try:
        (login, role) = await app.fetchrow("select session_user::text, current_user::text")
        for name in (login, role):
            powers = await opened.as_superuser(
                "select rolsuper or rolbypassrls, exists (select from pg_class where relowner = r.oid) "
                "from pg_roles r where rolname = $1",
                name,
            )
            assert [tuple(row) for row in powers] == [(False, False)], name
        rows = await opened.as_superuser("select tablename from pg_tables where schemaname = 'lockstitch'")
        tables = {row[0] for row in rows} - LEFT_OUT
        held = 0
        for table in tables:
            owned = await opened.as_superuser(f"select from lockstitch.{table} where tenant_id = $1", tenant)
            held += bool(owned)
            for sql in (
                f"select * from lockstitch.{table} where tenant_id = '{tenant}'",
                f"update lockstitch.{table} set tenant_id = '{other}' where tenant_id = '{tenant}' returning 1",
                f"delete from lockstitch.{table} where tenant_id = '{tenant}' returning 1",
            ):
                assert await _reached(app, other, sql) == [], (table, sql)
            after = await opened.as_superuser(f"select from lockstitch.{table} where tenant_id = $1", tenant)
            assert len(after) == len(owned)
        assert held >= 8
    finally:
        await app.close()


async def _reached(app: Any, tenant: str, sql: str) -> list[Any]:
    """The rows that a statement reaches for a tenant; none where the role may not run it at all."""
    try:
        async with app.transaction():
            await app.execute("select set_config('app.tenant', $1, true)", tenant)
            return list(await app.fetch(sql))
    except asyncpg.InsufficientPrivilegeError:
        return []
