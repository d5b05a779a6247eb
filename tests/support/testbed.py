"""The testbed of the clients' test vectors, started as every language's tests start it."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
TESTDATA = REPOSITORY / "client/testdata"


class RunningTestbed:
    """A testbed that is ready; `targets` are what its first line says."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.targets = self._answer()

    def command(self, name: str, **keywords: object) -> dict[str, Any]:
        """Send a command, and give the answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"command": name, **keywords}) + "\n")
        self._process.stdin.flush()
        answer = self._answer()
        assert answer.pop("ok"), answer
        return answer

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the testbed has ended"
        answer: dict[str, Any] = json.loads(line)
        return answer


@contextmanager
def running_testbed() -> Iterator[RunningTestbed]:
    """Start one, and end it by closing its standard input."""
    with subprocess.Popen(
        [sys.executable, str(TESTDATA / "testbed.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield RunningTestbed(process)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(60) == 0
