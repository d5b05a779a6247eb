import os
import stat
from pathlib import Path

import pytest

from lockstitch_server.data_folder import DataFolder, FolderInUse
from lockstitch_server.startup import StartupError


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_folders_are_made_with_their_modes_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        DataFolder(tmp_path / "a/b/data").make()
    finally:
        os.umask(before)
    assert [mode(tmp_path / path) for path in ("a", "a/b", "a/b/data", "a/b/data/keys")] == [0o755, 0o755, 0o711, 0o700]


def test_a_folder_that_was_there_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir(mode=0o750)
    DataFolder(tmp_path / "data").make()
    assert mode(tmp_path / "data") == 0o750


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(StartupError, match=str(tmp_path)):
        DataFolder(tmp_path / "data").make()


def test_a_secret_is_drawn_once(tmp_path: Path) -> None:
    data = DataFolder(tmp_path)
    data.make()
    assert data.secret("s", lambda: b"first") == b"first"
    assert data.secret("s", lambda: b"second") == b"first"
    assert mode(data.keys / "s") == 0o600


def test_the_lock_names_its_owner_and_can_be_had_again(tmp_path: Path) -> None:
    data = DataFolder(tmp_path)
    data.make()
    with data.lock(), pytest.raises(FolderInUse, match=rf"{tmp_path}.*process {os.getpid()}"):
        data.lock()
    with data.lock():
        pass
