"""Temporary folders that the account which runs Postgres can reach; pytest's own are closed to it."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def open_folder() -> Iterator[Path]:
    """Give a folder that others may pass through, and remove it afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="lockstitch-test-"))
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
