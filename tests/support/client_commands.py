"""Running `lockstitch` to its end, piped or on a terminal."""

import json
import os
import pty
import select
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lockstitch_server.server_process import ServerProcess
from support.waiting import until_blocking

SECONDS_MAX = 60
COLUMNS = 120
_COMMAND = (sys.executable, "-W", "error", "-m", "lockstitch.cli")


@dataclass(frozen=True, slots=True)
class Ended:
    """What a command left."""

    code: int
    out: str
    err: str = ""

    @property
    def value(self) -> Any:
        """The one JSON text of stdout."""
        (line,) = self.out.splitlines()
        return json.loads(line)

    @property
    def values(self) -> list[Any]:
        """A JSON text of each line."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def sentence(self) -> str:
        """The one line of stderr of a command that failed."""
        assert self.code == 1, self
        (sentence,) = self.err.splitlines()
        assert sentence.startswith("lockstitch: "), self
        return sentence


class Commands:
    """Calls `lockstitch` as somebody of a tenant of one's own."""

    def __init__(self, server: ServerProcess, tenant: str, *, user: str = "engine-1", role: str = "engine") -> None:
        self.server = server
        self.tenant = tenant
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("LOCKSTITCH_")}
        self.environment = inherited | {
            "LOCKSTITCH_TARGET": server.target,
            "LOCKSTITCH_TOKEN": server.token(tenant=tenant, user=user, role=role),
            "COLUMNS": str(COLUMNS),
            "TERM": "xterm-256color",
            "NO_COLOR": "",
        }

    def start(self, *arguments: str | Path, **more: Any) -> "subprocess.Popen[bytes]":
        """Start a command, to be looked at while it runs."""
        return subprocess.Popen([*_COMMAND, *map(str, arguments)], env=self.environment, **more)

    def run(self, *arguments: str | Path, stdin: bytes = b"", settings: Mapping[str, str] | None = None) -> Ended:
        """Run a command whose output is piped."""
        done = subprocess.run(
            [*_COMMAND, *map(str, arguments)],
            check=False,
            env=self.environment | dict(settings or {}),
            input=stdin,
            capture_output=True,
            timeout=SECONDS_MAX,
        )
        return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())

    def ok(self, *arguments: str | Path, stdin: bytes = b"") -> Ended:
        """Run a command that must succeed."""
        ended = self.run(*arguments, stdin=stdin)
        assert ended.code == 0, ended
        return ended

    def peak_bytes(self, *arguments: str | Path) -> int:
        """Run a command that must succeed; gives the most memory that it was seen to hold."""
        peak = 0
        with self.start(*arguments, stdout=subprocess.DEVNULL) as process:

            def has_ended() -> bool:
                nonlocal peak
                # The parent's own peak counts as a child's in wait4, so the kernel is asked while it runs.
                for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
                    if line.startswith("VmHWM:"):
                        peak = max(peak, int(line.split()[1]) * 1024)
                return process.poll() is not None

            until_blocking(has_ended, "the end of the command", SECONDS_MAX)
        assert process.returncode == 0
        return peak

    def on_terminal(self, *arguments: str | Path) -> Ended:
        """Run a command on a terminal; gives all that is written there."""
        ours, theirs = pty.openpty()
        with subprocess.Popen(
            [*_COMMAND, *map(str, arguments)], env=self.environment, stdin=theirs, stdout=theirs, stderr=theirs
        ) as process:
            os.close(theirs)
            written = _all_of(ours)
            code = process.wait(SECONDS_MAX)
        os.close(ours)
        return Ended(code, written.decode())


def _all_of(descriptor: int) -> bytes:
    written = b""
    while True:
        ready, _, _ = select.select([descriptor], [], [], SECONDS_MAX)
        assert ready, "the command hangs"
        try:
            data = os.read(descriptor, 65536)
        except OSError:  # Linux says so when the last writer is gone
            return written
        if not data:
            return written
        written += data


def lines_of(*values: object) -> bytes:
    """JSON lines."""
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)
