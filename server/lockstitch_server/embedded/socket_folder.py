"""The folder of the database's socket: beside the data, or elsewhere where that path is too long for a socket."""

import hashlib
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from lockstitch_server.data_folder import DataFolder, make_folder
from lockstitch_server.embedded.account import Account
from lockstitch_server.startup import StartupError

SOCKET_NAME = ".s.PGSQL.5432"
PATH_BYTES_MAX = 100
"""A socket's path holds 104 to 108 bytes, by system."""

OURS_ALONE = 0o700


def socket_folder(data: DataFolder, account: Account) -> Path:
    """Return `pg` itself, or a folder in the temporary one that only the database's account may enter."""
    if _fits(data.pg):
        return data.pg
    name = hashlib.sha256(os.fsencode(data.pg)).hexdigest()[:16]
    folder = Path(tempfile.gettempdir(), f"lockstitch-{account.uid}-{name}")
    if not _fits(folder):
        raise StartupError(f"the paths of {data.pg} and {folder} are too long for a socket: choose another --data-dir")
    if make_folder(folder, OURS_ALONE):
        account.give(folder)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != account.uid or stat.S_IMODE(status.st_mode) != OURS_ALONE:
        raise StartupError(f"{folder} is needed for the database's socket, and is not ours alone: remove it")
    return folder


def clear(folder: Path) -> None:
    """Remove the socket that a killed postmaster left, whose number may have passed to a stranger."""
    for name in (SOCKET_NAME, f"{SOCKET_NAME}.lock"):
        (folder / name).unlink(missing_ok=True)


def leave(folder: Path, data: DataFolder) -> None:
    """Remove what `socket_folder` made elsewhere."""
    if folder != data.pg:
        with suppress(OSError):
            folder.rmdir()


def _fits(folder: Path) -> bool:
    # A comma would part two folders, both for Postgres and in a database URL.
    return len(os.fsencode(folder / SOCKET_NAME)) <= PATH_BYTES_MAX and "," not in str(folder)
