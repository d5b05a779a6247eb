"""Applies what a database lacks; any number of processes may start it at once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

import asyncpg

from lockstitch_migrations.errors import MigrationError
from lockstitch_migrations.files import Migration, migrations

CONNECT_SECONDS_MAX = 10.0
LOCK = 0x6C6F636B73746974  # "lockstit"
LOCK_POLL_SECONDS = 0.05
LOCK_SECONDS_MAX = 600.0

BOOKS = """
    create schema if not exists lockstitch;
    create table if not exists lockstitch.migrations (
        name text primary key,
        checksum text not null,
        applied_at timestamptz not null default now()
    );
    grant select on lockstitch.migrations to public;
"""


async def migrate(owner_url: str) -> list[str]:
    """Bring a database to this release's schema, as its owner; returns the names of what was applied."""
    async with exclusive(owner_url) as connection:
        await connection.execute(BOOKS)
        lacking = await _lacking(connection)
        for migration in lacking:
            await _apply(connection, migration)
    return [migration.name for migration in lacking]


async def pending(connection: "asyncpg.Connection[asyncpg.Record]") -> list[str]:
    """Name the migrations that a database lacks; one that was edited after it was applied is an error.

    A newer schema is fine: what a later release adds beforehand is made to be safe under this one.
    """
    return [migration.name for migration in await _lacking(connection)]


async def new_store_epoch(owner_url: str) -> str:
    """Mark the store as restored from a backup: cursors into the time that was lost are refused from now on."""
    async with exclusive(owner_url) as connection:
        store_epoch = uuid4().hex
        await connection.execute("update lockstitch.store set store_epoch = $1", store_epoch)
    return store_epoch


async def _lacking(connection: "asyncpg.Connection[asyncpg.Record]") -> list[Migration]:
    exists = await connection.fetchval("select to_regclass('lockstitch.migrations') is not null")
    rows = await connection.fetch("select name, checksum from lockstitch.migrations") if exists else []
    applied = {row["name"]: row["checksum"] for row in rows}
    for migration in migrations():
        if applied.get(migration.name, migration.checksum) != migration.checksum:
            raise MigrationError(
                f"the migration {migration.name} was changed after this database had applied it: "
                "restore the file, and write a new migration for the change"
            )
    return [migration for migration in migrations() if migration.name not in applied]


async def _apply(connection: "asyncpg.Connection[asyncpg.Record]", migration: Migration) -> None:
    record = "insert into lockstitch.migrations (name, checksum) values ($1, $2)"
    try:
        if migration.in_transaction:
            async with connection.transaction():
                await connection.execute(migration.sql)
                await connection.execute(record, migration.name, migration.checksum)
        else:
            await connection.execute(migration.sql)
            await connection.execute(record, migration.name, migration.checksum)
    except asyncpg.InsufficientPrivilegeError as error:
        raise MigrationError(
            f"the role that migrates lacks a right that {migration.name} needs ({error}): it must own the database, "
            "and may create roles unless lockstitch_app and lockstitch_background exist"
        ) from error
    except asyncpg.PostgresError as error:
        raise MigrationError(f"the migration {migration.name} failed: {error}") from error


@asynccontextmanager
async def exclusive(owner_url: str) -> "AsyncIterator[asyncpg.Connection[asyncpg.Record]]":
    """Connect as the owner, and wait for whoever migrates already.

    The lock is asked for and never waited for in the database: a waiting statement is a snapshot that CREATE INDEX
    CONCURRENTLY would wait for in turn.
    """
    async with connected(owner_url) as connection:
        try:
            async with asyncio.timeout(LOCK_SECONDS_MAX):
                while not await connection.fetchval("select pg_try_advisory_lock($1)", LOCK):  # noqa: ASYNC110 - see above
                    await asyncio.sleep(LOCK_POLL_SECONDS)
        except TimeoutError:
            raise MigrationError("another process has been migrating this database for too long: look at it") from None
        yield connection  # the lock goes with the connection


@asynccontextmanager
async def connected(owner_url: str) -> "AsyncIterator[asyncpg.Connection[asyncpg.Record]]":
    """Connect as the owner; a database that cannot be had is one clear sentence."""
    try:
        connection = await asyncpg.connect(
            owner_url, timeout=CONNECT_SECONDS_MAX, server_settings={"statement_timeout": "0"}
        )
    except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError, ValueError) as error:
        raise MigrationError(f"the database cannot be reached as its owner: {str(error) or 'no answer'}") from error
    try:
        yield connection
    except asyncpg.InsufficientPrivilegeError as error:
        raise MigrationError(f"the role that migrates lacks a right: {error}") from error
    finally:
        await connection.close(timeout=CONNECT_SECONDS_MAX)
