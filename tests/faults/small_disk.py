"""A disk that is soon full: a tmpfs, for the length of a context."""

import errno
import os
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

_BLOCK = bytes(1024 * 1024)


class SmallDisk:
    """Mounted at a folder that it makes."""

    def __init__(self, folder: Path, size_bytes: int) -> None:
        self.folder = folder
        self._size_bytes = size_bytes

    def __enter__(self) -> Self:
        self.folder.mkdir()
        options = f"size={self._size_bytes},mode=0711"
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "lockstitch-faults", self.folder], check=True)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        subprocess.run(["umount", "--lazy", self.folder], check=True)
        self.folder.rmdir()

    def fill(self) -> None:
        """Leave not a byte."""
        with (self.folder / "filler").open("ab", buffering=0) as filler:
            for block in (_BLOCK, _BLOCK[:4096], b"\0"):
                _write_while_there_is_room(filler.fileno(), block)

    def empty(self) -> None:
        """Take back what `fill` wrote."""
        (self.folder / "filler").unlink(missing_ok=True)


def cannot_mount() -> str:
    """Why no disk can be mounted here; nothing where one can."""
    if os.geteuid() != 0:
        return "only root may mount a small disk"
    with tempfile.TemporaryDirectory() as folder:
        tried = subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder], check=False, capture_output=True, text=True)
        if tried.returncode:
            return f"no disk can be mounted here: {tried.stderr.strip()}"
        subprocess.run(["umount", folder], check=True)
    return ""


def _write_while_there_is_room(descriptor: int, block: bytes) -> None:
    try:
        while True:
            os.write(descriptor, block)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
