"""The folder a server keeps its things in: who may enter it, its lock, its secrets."""

import fcntl
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from lockstitch_server.startup import StartupError


class FolderInUse(StartupError):
    """Another server owns the data folder."""


class DataFolder:
    """`keys` is ours alone, `pg` is the database account's alone, and `lock` says which server owns them.

    Nothing is ever changed about a folder that was there before us.
    """

    def __init__(self, path: Path) -> None:
        """Name the folder; `make` makes it."""
        self.path = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would name another path than the operator did
        self.keys = self.path / "keys"
        self.pg = self.path / "pg"

    def make(self) -> None:
        """Make what is missing: the folder can be passed through by anyone, `keys` be read by us alone."""
        try:
            for folder in reversed([self.path, *self.path.parents]):
                if not folder.is_dir():
                    make_folder(folder, 0o711 if folder == self.path else 0o755)
            make_folder(self.keys, 0o700)
        except OSError as error:
            raise StartupError(f"the data folder {self.path} cannot be made: {error.strerror}") from error

    def secret(self, name: str, new: Callable[[], bytes]) -> bytes:
        """Read a secret, made by `new` if there is none; of several processes that make one, the first wins."""
        path = self.keys / name
        try:
            if not path.exists():
                self._offer(path, new())
            return path.read_bytes()
        except OSError as error:
            raise StartupError(f"the key file {path} cannot be read or made: {error.strerror}") from error

    def _offer(self, path: Path, content: bytes) -> None:
        descriptor, draft = tempfile.mkstemp(dir=self.keys)  # 0600
        try:
            with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor, not a path
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.link(draft, path)
        except FileExistsError:
            pass  # another process was first, and its secret is as good as ours
        finally:
            os.unlink(draft)  # noqa: PTH108 - mkstemp gave a string
        _sync(self.keys)

    def lock(self) -> "FolderLock":
        """Claim the folder until the lock is released or this process ends, however it ends."""
        descriptor = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.pread(descriptor, 20, 0).decode().strip()
            os.close(descriptor)
            raise FolderInUse(
                f"the data folder {self.path} is in use by another server (process {owner or 'unknown'})"
            ) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        return FolderLock(descriptor)


class FolderLock:
    """A claim on a data folder; the kernel drops it with the process, even one that was killed."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def release(self) -> None:
        os.close(self._descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.release()


def make_folder(path: Path, mode: int) -> bool:
    """Make a folder with exactly this mode, whatever the umask; False if there was one, which is left as it is."""
    try:
        path.mkdir(mode=mode)
    except FileExistsError:
        if not path.is_dir():
            raise
        return False
    path.chmod(mode)
    return True


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
