"""What a database is like, before anybody serves from it."""

from dataclasses import dataclass

import asyncpg

from lockstitch_server.startup import StartupError
from lockstitch_server.store.pool import APP_ROLE

_CONNECT_SECONDS = 10.0
_QUERY = """
select
    r.rolname as login,
    r.rolsuper or r.rolbypassrls as reaches_all,
    exists (
        select
        from pg_class c
        join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = 'lockstitch' and pg_has_role(session_user, c.relowner, 'member')
    ) as owns,
    exists (select from pg_roles a where a.rolname = $1 and pg_has_role(session_user, a.oid, 'member')) as may_be_app,
    current_setting('server_version') as postgres_version,
    current_setting('server_version_num')::integer as postgres_number,
    current_setting('synchronous_commit') as synchronous_commit,
    current_setting('fsync') as fsync,
    current_setting('full_page_writes') as full_page_writes,
    exists (
        select
        from pg_class c
        join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = 'lockstitch' and c.relname = 'migrations'
    ) as has_migrations
from pg_roles r
where r.rolname = session_user
"""


@dataclass(frozen=True, slots=True)
class Inspection:
    """What was found."""

    login: str
    reaches_all: bool
    """The login is a superuser or bypasses row-level security."""
    owns: bool
    """The login owns the tables, or may become who does."""
    may_be_app: bool
    postgres_version: str
    postgres_number: int
    synchronous_commit: bool
    fsync: bool
    full_page_writes: bool
    migrations: tuple[str, ...] | None
    """The names of applied migrations, in order; None where there is no schema, or it can't be read."""


async def inspect(database_url: str) -> Inspection:
    """Look at a database as its login; raises StartupError where it can't be reached."""
    try:
        connection = await asyncpg.connect(database_url, timeout=_CONNECT_SECONDS)
    except (OSError, TimeoutError, ValueError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        reason = str(error).strip() or type(error).__name__
        raise StartupError(f"the database cannot be reached: {reason}") from error
    try:
        (row,) = await connection.fetch(_QUERY, APP_ROLE)
        migrations = None
        if row["has_migrations"] and row["may_be_app"] and not row["owns"]:
            await connection.execute(f"set role {APP_ROLE}")
            found = await connection.fetch("select m.name from lockstitch.migrations m order by m.name")
            migrations = tuple(entry["name"] for entry in found)
    except asyncpg.PostgresError as error:
        raise StartupError(f"the database cannot be inspected: {error}") from error
    finally:
        await connection.close()
    return Inspection(
        login=row["login"],
        reaches_all=row["reaches_all"],
        owns=row["owns"],
        may_be_app=row["may_be_app"],
        postgres_version=row["postgres_version"].partition(" ")[0],
        postgres_number=row["postgres_number"],
        synchronous_commit=row["synchronous_commit"] != "off",
        fsync=row["fsync"] == "on",
        full_page_writes=row["full_page_writes"] == "on",
        migrations=migrations,
    )
