"""Runs the statements that read."""

import asyncpg

from lockstitch_server.errors import DatabaseUnavailable
from lockstitch_server.store import failures, queries
from lockstitch_server.store.pool import Pool


class Reading:
    """Named queries that change nothing, so that they may be asked again."""

    def __init__(self, pool: Pool) -> None:
        """Shares the pool with the writer."""
        self._pool = pool
        self._queries = queries.load()

    async def fetch(self, query: str, *args: object) -> list[asyncpg.Record]:
        """Read; where the connection breaks, read again on another. Raises DatabaseUnavailable."""
        try:
            return await self._pool.fetch(self._queries[query], *args)
        except failures.ConnectionLost:
            try:
                return await self._pool.fetch(self._queries[query], *args)
            except failures.ConnectionLost as error:
                raise DatabaseUnavailable from error
        except failures.NO_ROOM as error:
            raise DatabaseUnavailable from error
