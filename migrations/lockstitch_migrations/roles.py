"""Lets a login role work as the app: a member of the group roles, and nothing more."""

from urllib.parse import parse_qs, unquote, urlsplit

import asyncpg

from lockstitch_migrations.errors import MigrationError
from lockstitch_migrations.runner import exclusive

GROUPS = ("lockstitch_app", "lockstitch_background")
GRANT_OPTIONS = (16,)
"""The first version of Postgres where a grant says what comes with it, not the role."""


async def grant_app(owner_url: str, app_url: str) -> None:
    """Make sure that the app URL's role exists and may take the group roles on, without having their rights itself."""
    name, password = _credentials(app_url)
    async with exclusive(owner_url) as connection:
        try:
            if not await connection.fetchval("select exists (select from pg_roles where rolname = $1)", name):
                await _create(connection, name, password)
            for group in GROUPS:
                await _grant(connection, group, name)
        except asyncpg.InsufficientPrivilegeError as error:
            raise MigrationError(
                f"the owner may not set up the app role {name} ({error}): as a superuser, create it and run "
                f'grant {", ".join(GROUPS)} to "{name}"'
            ) from error


async def _create(connection: "asyncpg.Connection[asyncpg.Record]", name: str, password: str) -> None:
    # Data definition takes no parameters, so the server itself quotes.
    await connection.execute(
        await connection.fetchval(
            "select format('create role %I login noinherit password %L', $1::text, $2::text)", name, password
        )
    )


async def _grant(connection: "asyncpg.Connection[asyncpg.Record]", group: str, name: str) -> None:
    if await connection.fetchval("select pg_has_role($1::name, $2::name, 'member')", name, group):
        return
    options = " with inherit false, set true" if connection.get_server_version() >= GRANT_OPTIONS else ""
    await connection.execute(
        await connection.fetchval("select format('grant %I to %I', $1::text, $2::text)", group, name) + options
    )


def _credentials(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    query = parse_qs(parts.query)
    name = unquote(parts.username or "") or query.get("user", [""])[0]
    password = unquote(parts.password or "") or query.get("password", [""])[0]
    if not name or not password:
        raise MigrationError("the app's database URL must name its role and password")
    return name, password
