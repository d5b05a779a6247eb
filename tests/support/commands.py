"""Running the server's command line to its end."""

import os
import subprocess
import sys
from pathlib import Path

SECONDS_MAX = 60


def run(*arguments: str | Path, **settings: str) -> "subprocess.CompletedProcess[str]":
    """Run `lockstitch-server` with these arguments and `LOCKSTITCH_…` settings, and none from outside."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("LOCKSTITCH_")}
    if "LOCKSTITCH_POSTGRES_BIN" in os.environ:
        inherited["LOCKSTITCH_POSTGRES_BIN"] = os.environ["LOCKSTITCH_POSTGRES_BIN"]
    return subprocess.run(
        [sys.executable, "-m", "lockstitch_server", *arguments],
        check=False,
        env=inherited | settings,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
    )


def refused(*arguments: str | Path, **settings: str) -> str:
    """Run a command that must be refused: exit code 2 and one sentence, which is returned."""
    result = run(*arguments, **settings)
    assert result.returncode == 2, result
    (sentence,) = result.stderr.splitlines()
    assert sentence.startswith("lockstitch-server: ")
    return sentence
