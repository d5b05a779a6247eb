"""The server's database seen from behind: the log, the disk, and how rows were updated."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg

from lockstitch_server.embedded import running_urls

_EXPIRED = """
with made as (
    insert into lockstitch.sessions (
        session_key, create_time, version, last_seq, memory_version, fencing_token, update_time, last_activity_time,
        message_count, memory_bytes, activity_minute, status, expire_time, tenant_id, user_id, session_id, agent
    )
    select gen_random_uuid(), now(), 1, 0, 0, 0, now(), now(), 0, 0, lockstitch.minute_v1(now()), 1, now(), 'bench',
        'expired', 'expired-' || n, ''
    from generate_series(1, $1::integer) as n
    returning session_key, expire_time
),
details as (
    insert into lockstitch.session_details (
        session_key, version, status, expire_time, tenant_id, title, close_reason, label_keys, label_values, metadata
    )
    select m.session_key, 1, 1, m.expire_time, 'bench', '', '', '{}', '{}', '' from made m
),
log as (
    insert into lockstitch.commits (
        session_key, version, request_hash, commit_time, last_seq, memory_version, message_count, new_messages,
        new_tool_calls, method, principal_role, tenant_id, principal_subject, digest
    )
    select m.session_key, 1, gen_random_uuid(), now(), 0, 0, 0, 0, 0, 1, 2, 'bench', 'bench', '' from made m
)
insert into lockstitch.sweeps (session_key, sweep_after, tenant_id)
select m.session_key, now() + interval '1 day', 'bench' from made m
"""
"""Sessions as CreateSession leaves them, with a life that has ended; all parts of it see the rows that it makes."""


class Database:
    """A superuser's view of the embedded Postgres that a server runs."""

    def __init__(self, connection: "asyncpg.Connection[asyncpg.Record]") -> None:
        """Use `looked_at`."""
        self._connection = connection

    async def version(self) -> str:
        """Such as "18.6"."""
        return str(await self._connection.fetchval("select current_setting('server_version')"))

    async def log_bytes(self) -> int:
        """How many bytes of log were ever written."""
        return await self._number("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')")

    async def checkpoint(self) -> str:
        """Where the last checkpoint began: after it, the first change of a page writes the page whole."""
        return str(await self._connection.fetchval("select redo_lsn::text from pg_control_checkpoint()"))

    async def disk_bytes(self) -> int:
        """What the schema's tables and their indexes take."""
        return await self._number(
            "select sum(pg_total_relation_size(oid)) from pg_class"
            " where relnamespace = 'lockstitch'::regnamespace and relkind = 'r'"
        )

    async def session_updates(self) -> tuple[int, int]:
        """How many updates of session rows there were, and how many of them left the indexes alone (HOT)."""
        of_sessions = "from pg_stat_user_tables where schemaname = 'lockstitch' and relname = 'sessions'"
        updated = await self._number(f"select n_tup_upd {of_sessions}")
        return updated, await self._number(f"select n_tup_hot_upd {of_sessions}")

    async def spread_activity(self, user_id: str, days: int) -> None:
        """Have a user's sessions been used at times spread over so many days."""
        await self._move_activity(user_id, "now() - random() * make_interval(days => $2)", days)

    async def gather_activity(self, user_id: str) -> None:
        """Have all of a user's sessions been used within the minute that has passed."""
        await self._move_activity(user_id, "date_trunc('minute', now()) - random() * make_interval(secs => $2)", 59)

    async def add_expired(self, count: int) -> None:
        """Add sessions whose time has passed, each as a creation would have left it, and due far ahead."""
        await self._connection.execute(_EXPIRED, count)
        await self._connection.execute("vacuum analyze lockstitch.sessions, lockstitch.sweeps")

    async def postpone_sweeps(self) -> None:
        """Have nothing to sweep for a while."""
        await self._connection.execute("update lockstitch.sweeps set sweep_after = now() + interval '1 day'")

    async def recall_sweeps(self) -> None:
        """Have all sessions due that ever will be."""
        await self._connection.execute("update lockstitch.sweeps set sweep_after = now() - interval '1 minute'")

    async def swept(self) -> int:
        """How many sessions have expired."""
        return await self._number("select count(*) from lockstitch.sessions where status = 3")

    async def _move_activity(self, user_id: str, to: str, by: int) -> None:
        await self._connection.execute(
            f"with moved as (select session_key, {to} as at from lockstitch.sessions where user_id = $1)"  # noqa: S608
            " update lockstitch.sessions s"
            " set last_activity_time = m.at, activity_minute = lockstitch.minute_v1(m.at)"
            " from moved m where s.session_key = m.session_key",
            user_id,
            by,
        )
        await self._connection.execute("vacuum analyze lockstitch.sessions")

    async def _number(self, query: str) -> int:
        return int(await self._connection.fetchval(query))


@asynccontextmanager
async def looked_at(data_dir: Path) -> AsyncIterator[Database]:
    """Connect to the Postgres of a running server's data folder."""
    connection = await asyncpg.connect(running_urls(data_dir).superuser)
    try:
        yield Database(connection)
    finally:
        await connection.close()
