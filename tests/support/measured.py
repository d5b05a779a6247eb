"""What a statement does in the database: which tables and indexes it reads, and how many pages."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import asyncpg
import orjson

from lockstitch_server.store import queries
from lockstitch_server.store.pool import APP_ROLE, Pool
from support.databases import Database
from support.waiting import POLL_SECONDS

ALONE_SECONDS_MAX = 20
WHOLE = " read whole"
SCANS = f"""
    select relname || '{WHOLE}' as what, seq_scan as times from pg_stat_user_tables
    where schemaname = 'lockstitch' and relname not in ('store', 'migrations')
    union all
    select indexrelname, idx_scan from pg_stat_user_indexes
    where schemaname = 'lockstitch' and relname not in ('store', 'migrations')
"""
PAGES = """
    select relname as what,
        coalesce(heap_blks_read, 0) + coalesce(heap_blks_hit, 0) + coalesce(idx_blks_read, 0)
        + coalesce(idx_blks_hit, 0) + coalesce(toast_blks_read, 0) + coalesce(toast_blks_hit, 0)
        + coalesce(tidx_blks_read, 0) + coalesce(tidx_blks_hit, 0) as times
    from pg_statio_user_tables
    where schemaname = 'lockstitch'
"""

UNWATCHED = """
do $$
declare
    v_table regclass;
begin
    for v_table in select oid from pg_class where relnamespace = 'lockstitch'::regnamespace and relkind = 'r' loop
        execute format('alter table %s set (autovacuum_enabled = off)', v_table);
    end loop;
end
$$
"""
"""What vacuum reads would be counted, too."""


class Measured:
    """The server's own queries on one connection of the server's own pool."""

    def __init__(self, pool: Pool, database: Database) -> None:
        self.pool = pool
        self._database = database
        self._queries = queries.load()

    async def fetch(self, query: str, *args: object) -> list[Any]:
        return await self.pool.fetch(self._queries[query], *args)

    async def buffers(self, query: str, *args: object) -> int:
        """Count the pages that a query reads, in memory or not, once its plan and the catalogue are known."""
        counted: list[int] = []
        for _ in range(3):
            rows = await self.pool.fetch(
                f"explain (analyze, buffers, timing off, format json) {self._queries[query]}", *args
            )
            (explained,) = orjson.loads(rows[0][0])
            counted.append(explained["Plan"]["Shared Hit Blocks"] + explained["Plan"]["Shared Read Blocks"])
        return counted[-1]

    async def work(self, call: Callable[[], Awaitable[object]]) -> "Work":
        """Do something on the pool's connection, and say what it read."""
        scans, pages = await self._counted(SCANS), await self._counted(PAGES)
        await call()
        return Work(scans=await self._counted(SCANS) - scans, pages_by_table=await self._counted(PAGES) - pages)

    async def scans(self, query: str, *args: object) -> Counter[str]:
        """Count the scans that a query makes, by index, and of tables read whole."""
        return (await self.work(lambda: self.fetch(query, *args))).scans

    async def alone(self) -> None:
        """Wait until nobody else is connected to the database, whose reads would be counted, too."""
        others = "select count(*) from pg_stat_activity where datname = current_database() and backend_type = $1"
        async with asyncio.timeout(ALONE_SECONDS_MAX):
            while (await self._database.as_superuser(f"{others} and pid <> pg_backend_pid()", "client backend"))[0][
                0
            ] > 1:
                await asyncio.sleep(POLL_SECONDS)

    async def statements(self) -> list[str]:
        """Give a list that every further statement is written to."""
        said: list[str] = []
        await self.pool.fetch("select 1")
        (connection,) = self.pool._free
        connection.add_query_logger(lambda record: said.append(record.query))
        return said

    async def _counted(self, sql: str) -> Counter[str]:
        await self.pool.fetch("select pg_stat_force_next_flush()")
        rows = await self._database.as_superuser(sql)
        return Counter({row["what"]: row["times"] for row in rows})


@dataclass(frozen=True, slots=True)
class Work:
    """What was read: scans by index, and of tables read whole; and pages of tables with their indexes."""

    scans: Counter[str]
    pages_by_table: Counter[str]

    @property
    def pages(self) -> int:
        return self.pages_by_table.total()

    @property
    def whole(self) -> list[str]:
        """Name the tables that were read whole."""
        return [what for what in self.scans if what.endswith(WHOLE)]


@asynccontextmanager
async def measured(
    database: Database, *, role: str = APP_ROLE, statement_timeout: timedelta = timedelta(seconds=60)
) -> AsyncIterator[Measured]:
    """Open the server's pool, one connection wide."""
    pool = Pool(
        database.app_url,
        connections_max=1,
        wait=timedelta(seconds=5),
        statement_timeout=statement_timeout,
        role=role,
    )
    try:
        yield Measured(pool, database)
    finally:
        await pool.close()


async def executed(database: Database, sql: str, *args: object) -> None:
    """Run statements as the superuser, outside a transaction."""
    connection = await asyncpg.connect(database.superuser_url)
    try:
        await connection.execute(sql, *args)
    finally:
        await connection.close()
