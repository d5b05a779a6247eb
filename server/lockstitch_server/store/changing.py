"""What statements that change a session have in common: how they are run, what they begin with, what they answer."""

from datetime import timedelta
from functools import partial

import asyncpg

from lockstitch_server import failpoints
from lockstitch_server.errors import CommitOutcomeUnknown, DatabaseUnavailable, Overloaded
from lockstitch_server.model import Change, Session
from lockstitch_server.store import failures, queries, rows
from lockstitch_server.store.pool import Pool
from lockstitch_server.store.results import ChangeReport
from lockstitch_server.store.rows import Row

_ATTEMPTS = 3


class Statements:
    """Runs named changes, which may be run again: a request_id tells whether one was made."""

    def __init__(self, pool: Pool) -> None:
        """Through this pool."""
        self._pool = pool
        self._queries = queries.load()

    async def one(
        self, query: str, *args: object, time_max: timedelta | None = None, may_be_made: bool = False
    ) -> asyncpg.Record:
        """Run a change that answers with a row."""
        return (await self.fetch(query, *args, time_max=time_max, may_be_made=may_be_made))[0]

    async def once(self, query: str, *args: object) -> list[asyncpg.Record]:
        """Run a change and leave failures of the database, and what they mean, to the caller."""
        return await self._run(self._queries[query], args, None)

    async def fetch(
        self, query: str, *args: object, time_max: timedelta | None = None, may_be_made: bool = False
    ) -> list[asyncpg.Record]:
        """Run a change; where the connection breaks, ask again. `time_max` is for one that may take longer than others.

        `may_be_made` where an earlier statement may have made it. Raises CommitOutcomeUnknown, DatabaseUnavailable,
        Overloaded.
        """
        for _ in range(_ATTEMPTS):
            try:
                return await self._run(self._queries[query], args, time_max)
            except failures.ConnectionLost:
                may_be_made = True
            except failures.TRY_AGAIN:
                continue
            except failures.NO_ROOM as error:
                if may_be_made:
                    break
                raise not_made() from error
            except (DatabaseUnavailable, Overloaded):
                # This attempt was not sent; of an earlier one that says nothing.
                if may_be_made:
                    break
                raise
        raise CommitOutcomeUnknown if may_be_made else not_made()

    async def _run(self, sql: str, args: tuple[object, ...], time_max: timedelta | None) -> list[asyncpg.Record]:
        run = self._pool.fetch if time_max is None else partial(self._pool.fetch_long, time_max)
        if failpoints.folder is not None:
            await failpoints.reached("before_commit", lost=failures.ConnectionLost)
        found = await run(sql, *args)
        if failpoints.folder is not None:
            await failpoints.reached("after_commit", lost=failures.ConnectionLost)
        return found


def not_made() -> Overloaded:
    """What a change is told that the database had no room for."""
    return Overloaded("The database could not carry the change out now; nothing was done.")


def head(change: Change) -> tuple[object, ...]:
    """The arguments that every change of a session begins with."""
    session, principal = change.session, change.principal
    return (
        session.tenant_id,
        session.key,
        session.session_id,
        session.owner,
        change.method,
        change.request_id_hash,
        change.digest,
        principal.subject,
        rows.PRINCIPAL_ROLES[principal.role],
        change.traceparent,
    )


def report_of(row: Row) -> ChangeReport:
    """What every change answers."""
    return ChangeReport(
        outcome=row["r_outcome"],
        version=row["r_version"] or 0,
        last_seq=row["r_last_seq"] or 0,
        memory_version=row["r_memory_version"] or 0,
        commit_time=row["r_commit_time"],
    )


def session_of(row: Row, change: Change) -> Session | None:
    """The session as of the change, where there is one."""
    return None if row["s_session_id"] is None else rows.session(row, change.session.tenant_id)
