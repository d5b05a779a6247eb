"""A store of many sessions: one that was made by calls, copied row by row under other keys, at other times."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import asyncpg

from lockstitch import assistant, call, tool, working_memory
from lockstitch_server.embedded import running_urls
from stage import TEXT, Stage, message

MESSAGES = 20
"""Of each session, in six commits: five appends of four messages, the last of them with a tool call and its result."""

SESSIONS_A_USER = 100
_TENANT = "bench"
_NAME = "grown-"
_USER = "grower-"
_BATCH = 5000
_DAYS = 30

_COLUMNS = """
select table_name, column_name, data_type
from information_schema.columns
where table_schema = 'lockstitch'
order by table_name, ordinal_position
"""

_NAMED = rf"'\x{_TENANT.encode().hex()}00'::bytea || convert_to('{_NAME}' || n, 'UTF8')"
_KEY = f"encode(substring(sha256({_NAMED}) from 1 for 16), 'hex')::uuid"
"""A session's key is made of its tenant and its id."""

_AGE = f"make_interval(secs => (n * 7919) % ({_DAYS} * 86400))"
"""The last activity of all lies spread over a month."""

_COPIES = (
    f"select n, '{_NAME}' || n as session_id, '{_USER}' || n / {SESSIONS_A_USER} as user_id, {_KEY} as session_key,"  # noqa: S608
    f" {_AGE} as age from generate_series($2::bigint, $3::bigint) as n"
)

_WHILE_LOADING = {
    "autovacuum": "off",
    "checkpoint_timeout": "1h",
    "max_wal_size": "16GB",
}


@dataclass(frozen=True, slots=True)
class Grown:
    """What is there, and what it took."""

    sessions: int
    seconds: float
    disk_bytes: int


def name(number: int) -> str:
    """The id of a copy."""
    return f"{_NAME}{number}"


def user(number: int) -> str:
    """Whose it is."""
    return f"{_USER}{number // SESSIONS_A_USER}"


async def grow(stage: Stage, sessions: int) -> Grown:
    """Have so many sessions, numbered from 0, in the server's own tables."""
    template = await _template(stage)
    began = time.monotonic()
    connection = await asyncpg.connect(running_urls(stage.server.data_dir).superuser)
    try:
        async with _settings(connection):
            key = await connection.fetchval(
                "select session_key from lockstitch.sessions where session_id = $1", template
            )
            statements = await _statements(connection, key)
            for first in range(0, sessions, _BATCH):
                async with connection.transaction():
                    for statement in statements:
                        await connection.execute(statement, key, first, min(first + _BATCH, sessions) - 1)
                print(f"\r  {first:,} of {sessions:,} sessions, {time.monotonic() - began:.0f} s", end="", flush=True)
            print(flush=True)
            await connection.execute("vacuum (analyze)")
        await connection.execute("checkpoint")
    finally:
        await connection.close()
    return Grown(sessions, time.monotonic() - began, await stage.database.disk_bytes())


async def _template(stage: Stage) -> str:
    session = await stage.client.create(user_id="template", memory=working_memory(goal=TEXT))
    for _ in range(MESSAGES // 4 - 1):
        await session.append(messages=[message(), assistant(TEXT), message(), assistant(TEXT)])
    asked = assistant(tool_calls=[call("c1", "search", {"q": TEXT})])
    await session.append(messages=[message(), asked, tool("c1", {"found": TEXT}), assistant(TEXT)])
    return session.session_id


async def _statements(connection: "asyncpg.Connection[asyncpg.Record]", key: object) -> list[str]:
    """For each table in which the template has rows."""
    tables: dict[str, list[tuple[str, str]]] = {}
    for row in await connection.fetch(_COLUMNS):
        tables.setdefault(row["table_name"], []).append((row["column_name"], row["data_type"]))
    made: list[str] = []
    for table, columns in tables.items():
        has_rows = f"select exists (select from lockstitch.{table} where session_key = $1)"  # noqa: S608
        if "session_key" not in dict(columns) or not await connection.fetchval(has_rows, key):
            continue
        # A session's messages do not lie beside each other: others are written between them.
        order = "t.seq, g.n" if table == "messages" else "g.n"
        made.append(
            f"insert into lockstitch.{table} ({', '.join(column for column, _ in columns)})"  # noqa: S608
            f" select {', '.join(_expression(*column) for column in columns)}"
            f" from lockstitch.{table} as t cross join ({_COPIES}) as g where t.session_key = $1 order by {order}"
        )
    return made


def _expression(column: str, kind: str) -> str:
    if column in {"session_key", "session_id", "user_id"}:
        return f"g.{column}"
    if column == "activity_minute":
        return "lockstitch.minute_v1(t.last_activity_time - g.age)"
    return f"t.{column} - g.age" if kind.startswith("timestamp") else f"t.{column}"


@asynccontextmanager
async def _settings(connection: "asyncpg.Connection[asyncpg.Record]") -> AsyncIterator[None]:
    """A load is one burst of log: it need not stop for checkpoints."""
    before = {setting: await connection.fetchval(f"select current_setting('{setting}')") for setting in _WHILE_LOADING}
    for setting, value in _WHILE_LOADING.items():
        await connection.execute(f"alter system set {setting} = '{value}'")
    await connection.execute("select pg_reload_conf()")
    try:
        yield
    finally:
        for setting, value in before.items():
            await connection.execute(f"alter system set {setting} = '{value}'")
        await connection.execute("select pg_reload_conf()")
