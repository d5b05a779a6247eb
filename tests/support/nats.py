"""A NATS server of the tests' own."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.waiting import until_blocking


def nats_binary() -> str | None:
    """Where nats-server lies; Debian puts it where only root looks."""
    return shutil.which("nats-server") or shutil.which("nats-server", path="/usr/sbin:/usr/local/sbin")


@contextmanager
def running_nats(binary: str, folder: Path) -> Iterator[str]:
    """Run it on a free port of loopback, and give its address."""
    with (folder / "nats.log").open("wb") as log:
        process = subprocess.Popen(
            [binary, "--addr", "127.0.0.1", "--port", "-1", "--ports_file_dir", str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
        try:
            until_blocking(lambda: bool(list(folder.glob("*.ports"))), "nats-server's ports")
            (ports,) = folder.glob("*.ports")
            until_blocking(lambda: bool(ports.read_text()), "nats-server's ports")
            yield json.loads(ports.read_text())["nats"][0].removeprefix("nats://")
        finally:
            process.terminate()
            process.wait()
