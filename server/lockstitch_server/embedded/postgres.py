"""The embedded Postgres as its server sees it: start, three URLs, stop."""

import asyncio
import contextlib
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

import structlog

from lockstitch_server.data_folder import DataFolder, FolderLock
from lockstitch_server.embedded import cluster, leftover, socket_folder
from lockstitch_server.embedded.account import claim
from lockstitch_server.embedded.binaries import find
from lockstitch_server.embedded.postmaster import Launch, OldBackendsRemain, Postmaster
from lockstitch_server.startup import StartupError

OLD_BACKENDS_SECONDS_MAX = 30.0
RETRY_SECONDS = 0.1
LOG_BYTES_MAX = 8 * 1024 * 1024

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Urls:
    """How to connect, by role."""

    app: str
    owner: str
    superuser: str


class EmbeddedPostgres:
    """A running Postgres that is started again when it dies, and that dies with this process."""

    def __init__(self, data: DataFolder, lock: FolderLock, launch: Launch, postmaster: Postmaster, urls: Urls) -> None:
        """Take over what `start` made."""
        self._data = data
        self._lock = lock
        self._launch = launch
        self._postmaster = postmaster
        self._watch = asyncio.create_task(self._restart_when_it_dies(), name="embedded-postgres")
        self.app_url = urls.app
        self.owner_url = urls.owner
        self.superuser_url = urls.superuser

    @classmethod
    async def start(cls, data_dir: Path, *, postgres_bin: Path | None = None) -> "EmbeddedPostgres":
        """Lock the folder, make the database if there is none, and start it.

        To be called from the main thread, and to be stopped in the same loop.
        """
        data = DataFolder(data_dir)
        data.make()
        with contextlib.ExitStack() as undo:
            lock = undo.enter_context(data.lock())
            account = claim(data.pg)
            binaries = find(data, account, postgres_bin)
            folder = cluster.ensure_cluster(data, account, binaries)
            sockets = socket_folder.socket_folder(data, account)
            undo.callback(socket_folder.leave, sockets, data)
            launch = Launch(account, binaries, folder, sockets, _log_file(data))
            postmaster = await _launch(launch)
            undo.pop_all()
        return cls(data, lock, launch, postmaster, _urls(data, sockets))

    @property
    def pid(self) -> int:
        """The postmaster's process id; another one after a restart."""
        return self._postmaster.pid

    async def stop(self) -> None:
        """Stop Postgres, then give the folder free."""
        self._watch.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._watch
        await self._postmaster.stop()
        socket_folder.leave(self._launch.socket_folder, self._data)
        self._lock.release()

    async def _restart_when_it_dies(self) -> None:
        while True:
            await self._postmaster.ended.wait()
            log.error("Postgres died and is started again", log=str(self._launch.log))
            try:
                self._postmaster = await _launch(self._launch)
            except StartupError as error:
                log.error("Postgres did not start and is tried again", error=str(error))  # noqa: TRY400 - a sentence says it
                await asyncio.sleep(RETRY_SECONDS)
            else:
                log.info("Postgres runs again")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.stop()


async def _launch(launch: Launch) -> Postmaster:
    """Start Postgres, as soon as what an earlier one left has ended."""
    await leftover.end_leftover(launch.cluster)
    socket_folder.clear(launch.socket_folder)
    try:
        async with asyncio.timeout(OLD_BACKENDS_SECONDS_MAX):
            while True:
                with contextlib.suppress(OldBackendsRemain):
                    return await Postmaster.launch(launch)
                await asyncio.sleep(RETRY_SECONDS)
    except TimeoutError:
        raise StartupError("processes of an earlier Postgres still hold the data folder: end them") from None


def _log_file(data: DataFolder) -> Path:
    path = data.path / "postgres.log"
    if path.exists() and path.stat().st_size > LOG_BYTES_MAX:
        path.replace(path.with_suffix(".log.1"))
    return path


def running_urls(data_dir: Path) -> Urls:
    """Say how to reach the Postgres that another process runs in this folder."""
    data = DataFolder(data_dir)
    return _urls(data, socket_folder.socket_folder(data, claim(data.pg)))


def _urls(data: DataFolder, sockets: Path) -> Urls:
    words = cluster.passwords(data)

    def url(role: str, password: str) -> str:
        return f"postgresql://{role}:{password}@/{cluster.DATABASE}?host={quote(str(sockets))}&port=5432"

    return Urls(
        app=url(cluster.SERVER, words.server),
        owner=url(cluster.OWNER, words.owner),
        superuser=url(cluster.SUPERUSER, words.superuser),
    )
