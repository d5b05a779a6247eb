"""A database and a server that have lost the application's wall: no statement names the tenant, no key holds it."""

import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from lockstitch_migrations.files import migrations
from lockstitch_server.embedded import EmbeddedPostgres
from lockstitch_server.server_process import ServerProcess
from support.databases import TEMPLATE, Database, made_database

PREDICATE = re.compile(
    r"\b\w+\.tenant_id = (?:p_tenant\b|p_tenants\[i\]|v_tenant\b|p_session\.tenant_id\b|[pv]_draft\.tenant_id\b)"
)
WITHOUT_KEYS = Path(__file__).parent / "without_keys"


def predicates_written() -> int:
    """How many times the functions of this release say whose rows they mean."""
    return sum(len(PREDICATE.findall(migration.sql)) for migration in migrations())


@asynccontextmanager
async def open_database(postgres: EmbeddedPostgres) -> AsyncIterator[tuple[Database, int]]:
    """Make a database whose functions name no tenant, and say how many predicates were taken out."""
    async with made_database(postgres, TEMPLATE) as database:
        rows = await database.as_superuser(
            "select pg_get_functiondef(p.oid) from pg_proc p where p.pronamespace = 'lockstitch'::regnamespace"
        )
        taken_out = 0
        for (definition,) in rows:
            changed, number = PREDICATE.subn("true", definition)
            if number:
                await database.as_owner(changed)
                taken_out += number
        yield database, taken_out


def open_server(database: Database, folder: Path) -> ServerProcess:
    """Start a server whose keys forget the tenant, too."""
    path = os.pathsep.join([str(WITHOUT_KEYS), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {"LOCKSTITCH_DATABASE_URL": database.app_url, "PYTHONPATH": path}
    return ServerProcess.start(folder, environment=environment)
