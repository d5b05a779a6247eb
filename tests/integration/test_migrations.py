import asyncio
import dataclasses
from collections.abc import Callable
from urllib.parse import quote

import asyncpg
import pytest

from lockstitch_migrations import MigrationError, expected_schema, files, grant_app, migrate, pending, runner
from lockstitch_migrations.files import Migration
from support.databases import Database

ALL = [migration.name for migration in files.migrations()]


@pytest.fixture
def with_migrations(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let the runner see these migrations after the real ones."""

    def see(*more: Migration, changed: dict[str, str] | None = None) -> None:
        real = [dataclasses.replace(one, sql=(changed or {}).get(one.name, one.sql)) for one in files.migrations()]
        monkeypatch.setattr(runner, "migrations", lambda: (*real, *more))

    return see


async def lacking(database: Database) -> list[str]:
    connection = await asyncpg.connect(database.owner_url)
    try:
        return await pending(connection)
    finally:
        await connection.close()


async def test_five_concurrent_starters_migrate_an_empty_database_once(empty_database: Database) -> None:
    applied = await asyncio.gather(*(migrate(empty_database.owner_url) for _ in range(5)))
    assert sorted(applied) == [[], [], [], [], ALL]
    rows = await empty_database.as_owner("select name from lockstitch.migrations order by name")
    assert [row["name"] for row in rows] == ALL
    assert ALL[-1] == expected_schema()
    assert await lacking(empty_database) == []


async def test_an_empty_database_lacks_everything(empty_database: Database) -> None:
    assert await lacking(empty_database) == ALL


async def test_an_edited_migration_is_refused_by_name(
    empty_database: Database, with_migrations: Callable[..., None]
) -> None:
    await migrate(empty_database.owner_url)
    with_migrations(changed={ALL[0]: "select 1"})
    with pytest.raises(MigrationError, match=ALL[0]):
        await migrate(empty_database.owner_url)
    with pytest.raises(MigrationError, match=ALL[0]):
        await lacking(empty_database)


async def test_a_migration_that_fails_leaves_nothing(
    empty_database: Database, with_migrations: Callable[..., None]
) -> None:
    with_migrations(Migration("9000_pre_fails", "create table lockstitch.half (id int); select 1 / 0;"))
    with pytest.raises(MigrationError, match="9000_pre_fails"):
        await migrate(empty_database.owner_url)
    assert await lacking(empty_database) == ["9000_pre_fails"]
    assert await empty_database.as_owner("select to_regclass('lockstitch.half') as it") == [(None,)]


async def test_an_index_can_be_built_concurrently_by_one_of_five(
    empty_database: Database, with_migrations: Callable[..., None]
) -> None:
    await migrate(empty_database.owner_url)
    statement = "-- no-transaction\ncreate index concurrently if not exists probe on lockstitch.migrations (applied_at)"
    with_migrations(Migration("9000_pre_index", statement))
    applied = await asyncio.gather(*(migrate(empty_database.owner_url) for _ in range(5)))
    assert sorted(applied) == [[], [], [], [], ["9000_pre_index"]]


async def test_a_newer_schema_is_not_lacking(empty_database: Database, with_migrations: Callable[..., None]) -> None:
    with_migrations(Migration("9000_pre_later", "select 1"))
    await migrate(empty_database.owner_url)
    with_migrations()
    assert await lacking(empty_database) == []


async def test_a_role_without_rights_is_told_what_it_lacks(empty_database: Database) -> None:
    with pytest.raises(MigrationError, match="lacks a right"):
        await migrate(empty_database.app_url)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://a:b@127.0.0.1:1/lockstitch",
        "postgresql://a:b@/lockstitch?host=/nowhere",
        "mysql://a:b@localhost/lockstitch",
        "no url",
    ],
)
async def test_a_database_that_cannot_be_reached_is_one_sentence(url: str) -> None:
    with pytest.raises(MigrationError, match="cannot be reached") as caught:
        await migrate(url)
    assert "b@" not in str(caught.value)


async def test_the_app_role_has_no_rights_until_it_takes_the_group_role_on(empty_database: Database) -> None:
    await migrate(empty_database.owner_url)
    await asyncio.gather(*(grant_app(empty_database.owner_url, empty_database.app_url) for _ in range(3)))
    connection = await asyncpg.connect(empty_database.app_url)
    try:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.fetch("select from lockstitch.sessions")
        await connection.execute("set role lockstitch_app")
        assert await connection.fetch("select from lockstitch.sessions") == []
    finally:
        await connection.close()


async def test_a_missing_app_role_is_made(empty_database: Database) -> None:
    role = "app of \"us\" and 'them'"
    app_url = empty_database.app_url.replace("//lockstitch_server:", f"//{quote(role)}:")
    await migrate(empty_database.owner_url)
    try:
        await grant_app(empty_database.owner_url, app_url)
        connection = await asyncpg.connect(app_url, server_settings={"role": "lockstitch_app"})
        try:
            assert (
                await connection.fetchval("select session_user || ' as ' || current_user")
                == f"{role} as lockstitch_app"
            )
            rights = await connection.fetchrow(
                "select rolsuper, rolbypassrls, rolcreaterole from pg_roles where rolname = $1", role
            )
            assert tuple(rights or ()) == (False, False, False)
        finally:
            await connection.close()
    finally:
        quoted = '"' + role.replace('"', '""') + '"'
        await empty_database.as_owner(f"drop role {quoted}")


async def test_an_app_url_without_a_role_is_named(empty_database: Database) -> None:
    with pytest.raises(MigrationError, match="name its role and password"):
        await grant_app(empty_database.owner_url, "postgresql:///lockstitch")
