"""What faults befall: two servers on one Postgres, with a network of ours on both sides of each server."""

import asyncio
import os
import shutil
import signal
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import IO, Any

from faults.small_disk import SmallDisk
from faults.wrong_clock import WrongClock, postgres_under
from lockstitch_migrations import grant_app, migrate
from lockstitch_server.auth import keys
from lockstitch_server.auth.tokens import TokenSigner
from lockstitch_server.embedded import EmbeddedPostgres
from lockstitch_server.model import CallerRole
from lockstitch_server.server_process import ServerProcess
from support.databases import TEMPLATE, Database
from support.folders import open_folder
from support.processes import is_alive
from support.proxy import Proxy, proxy_to, to_socket
from support.waiting import until, until_true

NAMES = ("a", "b")
READY_SECONDS_MAX = 60.0
END_SECONDS_MAX = 30.0
_AGAIN_SECONDS = 0.2
_LAST_WORDS = 4000
_SIGNED_AGO = timedelta(hours=2)
"""Tokens are signed so long ago, so that a server whose clock is behind takes them, too."""


class Server:
    """One server, its network to callers (`near`) and its network to the database (`far`)."""

    def __init__(self, name: str, folder: Path, keys_folder: Path, database: Database) -> None:
        """Nothing runs yet; `near` and `far` are set by whoever opens them."""
        self.name = name
        self.near: Proxy
        self.far: Proxy
        self.orders = folder / f"orders-{name}"
        """Its failpoints."""
        self.starts = 0
        self._log = folder / f"server-{name}.log"
        self._read = 0
        self._keys_folder = keys_folder
        self._database = database
        self._process: ServerProcess | None = None
        self.orders.mkdir()

    @property
    def process(self) -> ServerProcess:
        if self._process is None:
            raise RuntimeError(f"server {self.name} was never started")
        return self._process

    @property
    def pid(self) -> int:
        return self.process.process.pid

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.process.poll() is None

    async def dial(self) -> Any:
        """Reach it, wherever it listens now."""
        host, port = self.process.target.rsplit(":", 1)
        return await asyncio.open_connection(host, int(port))

    async def start(self, **settings: str) -> None:
        """Start it, again and again while the database is not there."""
        if self._process is not None:
            # It may have ended by itself; what it was read by is let go.
            await self.kill()
        deadline = time.monotonic() + READY_SECONDS_MAX
        environment = {
            "LOCKSTITCH_DATABASE_URL": self._database.url_at(self.far.target),
            "LOCKSTITCH_FAILPOINTS": str(self.orders),
            "LOCKSTITCH_LOG_FORMAT": "json",
        } | settings
        while True:
            try:
                with self._log.open("ab") as log:
                    # In a thread, since this loop carries what the server needs to start.
                    self._process = await asyncio.to_thread(self._start, environment, log)
            except RuntimeError:
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(_AGAIN_SECONDS)
            else:
                self.starts += 1
                return

    def _start(self, environment: dict[str, str], log: IO[bytes]) -> ServerProcess:
        return ServerProcess.start(self._keys_folder, environment=environment, log=log)

    async def kill(self) -> None:
        await asyncio.to_thread(self.process.kill)

    async def stop(self) -> int:
        return await asyncio.to_thread(self.process.stop)

    async def ended(self) -> None:
        """Wait until it has ended by itself."""
        await until(lambda: not self.is_running, f"the end of server {self.name}", END_SECONDS_MAX)

    def last_words(self) -> str:
        """The end of what it logged."""
        return self._log.read_text(errors="replace")[-_LAST_WORDS:]

    def complaints(self) -> list[str]:
        """What it logged as an error since this was last asked: nothing that callers do, or that breaks, is one."""
        with self._log.open("rb") as log:
            log.seek(self._read)
            lines = log.readlines()
            self._read = log.tell()
        return [f"server {self.name} logged {line.decode().strip()}" for line in lines if b'"level": "error"' in line]


class Stage:
    """The servers and the database, which can be broken and made whole."""

    def __init__(
        self,
        folder: Path,
        postgres: EmbeddedPostgres,
        database: Database,
        *,
        disk: SmallDisk | None,
        clock: WrongClock | None,
    ) -> None:
        self.folder = folder
        self.postgres = postgres
        self.database = database
        self.disk = disk
        self.clock = clock
        """The database's, where it has one of its own."""
        self.servers = [Server(name, folder, folder / "keys", database) for name in NAMES]

    def token(self, *, tenant: str, subject: str = "engine-1", role: str = "engine") -> str:
        """Sign a token that both servers take, whatever their clocks say."""
        signer = TokenSigner(keys.load_or_make(self.folder / "keys"), lambda: time.time() - _SIGNED_AGO.total_seconds())
        return signer.sign(tenant=tenant, subject=subject, role=CallerRole(role), ttl=timedelta(hours=24))

    async def backends(self, application: str = "lockstitch-server") -> list[int]:
        """The processes of Postgres that serve our servers' pools, or their listeners."""
        rows = await self.database.as_superuser(
            "select pid from pg_stat_activity where application_name = $1 and datname = current_database()", application
        )
        return [row["pid"] for row in rows]

    async def terminate(self, application: str = "%") -> int:
        """Have Postgres end the connections of applications whose name is like this, of all but ours to begin with."""
        rows = await self.database.as_superuser(
            """
            select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and pid <> pg_backend_pid() and application_name like $1
            """,
            application,
        )
        return len(rows)

    async def database_answers(self) -> None:
        """Wait until Postgres takes connections."""

        async def answers() -> bool:
            with suppress(Exception):  # whichever way it says that it is not there yet
                async with asyncio.timeout(2):
                    return bool(await self.database.as_superuser("select 1"))
            return False

        await until_true(answers, "a database that answers", READY_SECONDS_MAX)


@asynccontextmanager
async def open_stage(disk_bytes: int = 0, *, own_clock: bool = False) -> AsyncIterator[Stage]:
    """Start everything in a folder of its own, the data on a small disk of so many bytes, if any; leave nothing.

    With `own_clock` the database's clock can be made wrong.
    """
    async with AsyncExitStack() as undo:
        folder = undo.enter_context(open_folder())
        disk = undo.enter_context(SmallDisk(folder / "disk", disk_bytes)) if disk_bytes else None
        data = folder / "postgres" if disk is None else disk.folder / "postgres"
        clock = WrongClock(folder / "clock") if own_clock else None
        binaries = None if clock is None else postgres_under(clock, folder / "binaries")
        postgres = await undo.enter_async_context(await EmbeddedPostgres.start(data, postgres_bin=binaries))
        undo.callback(_continue_all, postgres)
        await migrate(postgres.owner_url)
        await grant_app(postgres.owner_url, postgres.app_url)
        database = Database(TEMPLATE, postgres.app_url, postgres.owner_url, postgres.superuser_url)
        if disk is not None:
            await _keep_log_short(database)
        keys.load_or_make(folder / "keys")
        stage = Stage(folder, postgres, database, disk=disk, clock=clock)
        for server in stage.servers:
            server.near = await undo.enter_async_context(proxy_to(server.dial))
            server.far = await undo.enter_async_context(proxy_to(to_socket(database.socket_path)))
        undo.push_async_callback(_stop_all, stage)
        await asyncio.gather(*(server.start() for server in stage.servers))
        yield stage


async def _keep_log_short(database: Database) -> None:
    for name, value in {"max_wal_size": "64MB", "min_wal_size": "32MB"}.items():
        await database.as_superuser(f"alter system set {name} = '{value}'")
    await database.as_superuser("select pg_reload_conf()")


def _continue_all(postgres: EmbeddedPostgres) -> None:
    """A process that stands still can't be asked to end."""
    for pid in [postgres.pid, *_children(postgres.pid)]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


def _children(pid: int) -> list[int]:
    with suppress(FileNotFoundError):
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


async def _stop_all(stage: Stage) -> None:
    for server in stage.servers:
        shutil.rmtree(server.orders, ignore_errors=True)
        server.near.restore()
        server.far.restore()
        if server.is_running:
            os.kill(server.pid, signal.SIGCONT)
            await server.stop()
        assert not is_alive(server.pid)
