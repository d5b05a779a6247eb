"""Which account runs the embedded Postgres, and what it can reach."""

import os
import pwd
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from lockstitch_server.data_folder import make_folder
from lockstitch_server.embedded import as_account
from lockstitch_server.startup import StartupError

PREFERRED = ("lockstitch", "postgres", "nobody")
"""Who runs it for root, whom Postgres refuses; make the first where the others do other things."""

SHELL = "/bin/sh"


@dataclass(frozen=True, slots=True)
class Account:
    """An unprivileged account, or ourselves where we are one."""

    uid: int
    gid: int

    @property
    def is_other(self) -> bool:
        """Whether processes must change to it."""
        return self.uid != os.geteuid()

    def command(self, *command: str | Path) -> list[str]:
        """Return what runs a command as this account, and ends it with us.

        It changes the account itself: where `subprocess` does, it forks, which beside gRPC's threads may crash.
        """
        place = [sys.executable, "-I", "-S", as_account.__file__, str(os.getpid()), str(self.uid), str(self.gid)]
        return [*place, *map(str, command)]

    def reaches(self, folder: Path) -> bool:
        """Whether it can enter a folder: asked of the kernel, which knows of access lists and the like."""
        command = self.command(SHELL, "-c", 'cd -- "$0"', folder)
        return subprocess.run(command, check=False, cwd="/", stderr=subprocess.DEVNULL).returncode == 0

    def closed_folder(self, folder: Path) -> Path | None:
        """Return the first folder on the way that it cannot enter."""
        if self.reaches(folder):
            return None
        return next((parent for parent in reversed(folder.parents) if not self.reaches(parent)), folder)

    def give(self, path: Path) -> None:
        """Hand over something that we made."""
        if self.is_other:
            os.chown(path, self.uid, self.gid)


def claim(folder: Path) -> Account:
    """Make the database's folder, closed to all but one account, and say which that is.

    A folder that is there keeps the account it has.
    """
    if not folder.exists():
        account = _unprivileged() if os.geteuid() == 0 else Account(os.geteuid(), os.getegid())
        make_folder(folder, 0o700)
        account.give(folder)
    status = folder.stat()
    account = Account(status.st_uid, status.st_gid)
    if account.uid == 0:
        raise StartupError(f"{folder} belongs to root, and Postgres does not run as root: give it to another account")
    if account.is_other and os.geteuid() != 0:
        raise StartupError(f"{folder} belongs to the account {account.uid}: run the server as that account or as root")
    if closed := account.closed_folder(folder):
        raise StartupError(
            f"the data folder cannot be reached by the account {account.uid} that runs Postgres, since {closed} is "
            "closed to it: choose another --data-dir"
        )
    return account


def _unprivileged() -> Account:
    for name in PREFERRED:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(entry.pw_uid, entry.pw_gid)
    raise StartupError(f"as root, one of the accounts {', '.join(PREFERRED)} is needed to run Postgres: make one")
