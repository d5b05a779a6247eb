"""A real server in a process of its own, for tests."""

import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import IO

from lockstitch_server.auth import keys
from lockstitch_server.auth.tokens import TokenSigner
from lockstitch_server.model import CallerRole

READY = "lockstitch ready on "
READY_SECONDS_MAX = 60.0
STOP_SECONDS_MAX = 30.0
TOKEN_TTL = timedelta(hours=12)
KEPT = "LOCKSTITCH_POSTGRES_BIN"


class ServerProcess:
    """A `lockstitch-server serve` that takes calls."""

    def __init__(self, process: "subprocess.Popen[str]", target: str, data_dir: Path) -> None:
        """Take over what `start` started."""
        self.process = process
        self.target = target
        self.data_dir = data_dir

    @classmethod
    def start(
        cls,
        data_dir: Path,
        *,
        arguments: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        log: IO[bytes] | None = None,
    ) -> "ServerProcess":
        """Start a server and wait for its ready line; of our environment it gets no setting but the binaries'.

        `log` takes what it logs, in place of our stderr.
        """
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("LOCKSTITCH_")}
        if KEPT in os.environ:
            inherited[KEPT] = os.environ[KEPT]
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "lockstitch_server", "serve", "--data-dir", str(data_dir)),
                *("--listen", "127.0.0.1:0", *arguments),
            ],
            env=inherited | dict(environment or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        if process.stdout is None:
            raise AssertionError  # it is a pipe
        watchdog = threading.Timer(READY_SECONDS_MAX, process.kill)
        watchdog.start()
        try:
            for line in process.stdout:
                if line.startswith(READY):
                    return cls(process, line.removeprefix(READY).strip(), data_dir)
        finally:
            watchdog.cancel()
        process.stdout.close()
        raise RuntimeError(f"the lockstitch server did not start: exit code {process.wait()}, the reason is on stderr")

    def token(self, *, tenant: str = "tests", user: str = "tester", role: str = "engine") -> str:
        """Sign a token that this server takes."""
        signer = TokenSigner(keys.load_or_make(self.data_dir))
        return signer.sign(tenant=tenant, subject=user, role=CallerRole(role), ttl=TOKEN_TTL)

    def stop(self) -> int:
        """Let it finish, and return its exit code."""
        self.process.terminate()
        try:
            return self.process.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            return self.kill()
        finally:
            self._close()

    def kill(self) -> int:
        """End it as a crash would."""
        self.process.kill()
        self._close()
        return self.process.wait()

    def _close(self) -> None:
        if self.process.stdout:
            self.process.stdout.close()
