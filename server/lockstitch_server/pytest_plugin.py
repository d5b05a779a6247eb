"""The pytest fixture `lockstitch_server`: a real server of one's own, for tests of what is built on lockstitch."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from lockstitch_server.server_process import ServerProcess


@pytest.fixture(scope="session")
def lockstitch_server() -> "Iterator[ServerProcess]":
    """Serve from a temporary folder while the tests run: has `.target` and `.token(tenant=…, user=…, role=…)`."""
    # Every pytest loads this plugin, also where the client is installed without the server and what it needs.
    from lockstitch_server.server_process import ServerProcess  # noqa: PLC0415

    folder = Path(tempfile.mkdtemp(prefix="lockstitch-"))
    folder.chmod(0o711)  # as root, another account runs Postgres in it
    try:
        server = ServerProcess.start(folder / "data")
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder)
