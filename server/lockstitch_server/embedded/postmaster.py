"""One run of Postgres: started by us, gone with us."""

import asyncio
import contextlib
import signal
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path

from lockstitch_server.embedded.account import Account
from lockstitch_server.embedded.binaries import Binaries
from lockstitch_server.embedded.cluster import environment
from lockstitch_server.startup import StartupError

POLL_SECONDS = 0.01
READY_SECONDS_MAX = 300.0
"""Replaying the log after a crash may take this long; a start without one takes a tenth of a second."""

STOP_SECONDS_MAX = 10.0
QUIT_SECONDS_MAX = 5.0
STATUS_LINE = 7
OLD_BACKENDS = "pre-existing shared memory block"

ENFORCED = {
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "listen_addresses": "",  # no network: whoever may open the socket's folder may knock
    "unix_socket_permissions": "0700",
    "password_encryption": "scram-sha-256",
    "log_min_error_statement": "panic",  # statements hold content, and content is never logged
    "log_error_verbosity": "terse",  # so do an error's details
    "log_min_messages": "warning",
}
"""Given on the command line, which beats every file: what we promise does not hang on one."""


@dataclass(frozen=True, slots=True)
class Launch:
    """Everything one run needs."""

    account: Account
    binaries: Binaries
    cluster: Path
    socket_folder: Path
    log: Path

    def command(self) -> list[str]:
        settings = ENFORCED | {"unix_socket_directories": str(self.socket_folder)}
        return self.account.command(
            *(self.binaries.folder / "postgres", "-D", self.cluster),
            *(word for name, value in settings.items() for word in ("-c", f"{name}={value}")),
        )


class OldBackendsRemain(Exception):
    """Backends of a postmaster that was killed still hold its memory; they end as soon as they notice."""


class Postmaster:
    """A running Postgres, our child."""

    def __init__(self, process: subprocess.Popen[bytes], ended: asyncio.Event) -> None:
        self._process = process
        self.ended = ended

    @property
    def pid(self) -> int:
        return self._process.pid

    @classmethod
    async def launch(cls, launch: Launch) -> "Postmaster":
        """Start Postgres and wait until it takes connections.

        To be called from the main thread: the kernel ends Postgres with the thread that started it.
        """
        launch.log.touch(mode=0o600)
        with launch.log.open("ab") as log:
            log_start = log.tell()
            # A fork and an exec that block for a moment, in the very thread whose end is to be Postgres's.
            process = subprocess.Popen(  # noqa: ASYNC220
                launch.command(),
                cwd="/",
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # a terminal's ctrl-c is for the server, which stops Postgres last
            )
        postmaster = cls(process, _when_ended(process))
        try:
            async with asyncio.timeout(READY_SECONDS_MAX):
                await postmaster._until_ready(launch, log_start)
        except TimeoutError:
            await postmaster.stop()
            raise StartupError(f"Postgres did not become ready; its log is {launch.log}") from None
        except BaseException:
            process.kill()
            raise
        return postmaster

    async def _until_ready(self, launch: Launch, log_start: int) -> None:
        while not self._is_ready(launch.cluster):
            if self.ended.is_set():
                raise _failure(launch.log, log_start)
            await asyncio.sleep(POLL_SECONDS)

    def _is_ready(self, cluster: Path) -> bool:
        with contextlib.suppress(FileNotFoundError):
            lines = (cluster / "postmaster.pid").read_text().splitlines()
            return len(lines) > STATUS_LINE and lines[0] == str(self.pid) and lines[STATUS_LINE].strip() == "ready"
        return False

    async def stop(self) -> None:
        """Ask it to end its sessions and go; insist when that takes too long."""
        for sign, seconds in ((signal.SIGINT, STOP_SECONDS_MAX), (signal.SIGQUIT, QUIT_SECONDS_MAX)):
            if not self.ended.is_set():
                self._process.send_signal(sign)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self.ended.wait(), seconds)
        self._process.kill()
        await self.ended.wait()


def _when_ended(process: subprocess.Popen[bytes]) -> asyncio.Event:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()

    def wait() -> None:
        process.wait()
        with contextlib.suppress(RuntimeError):  # the loop is closed, nobody waits
            loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=wait, name="postmaster", daemon=True).start()
    return ended


def _failure(log: Path, start: int) -> Exception:
    with log.open("rb") as file:
        file.seek(start)
        said = file.read().decode(errors="replace")
    if OLD_BACKENDS in said:
        return OldBackendsRemain()
    fatal = next((line for line in said.splitlines() if "FATAL" in line), "it said nothing")
    return StartupError(f"Postgres did not start: {fatal.partition('FATAL:')[2].strip() or fatal}; its log is {log}")
