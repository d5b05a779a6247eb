import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
BUF = Path(sys.executable).with_name("buf")


def breaking(changed: Path) -> "subprocess.CompletedProcess[str]":
    """Compare protos with ours, as `make breaking` compares ours with the last release's."""
    return subprocess.run(
        [BUF, "breaking", changed, "--against", REPOSITORY / "protos"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def changed(folder: Path, file: str, pattern: str, replacement: str) -> Path:
    protos = folder / "protos"
    shutil.copytree(REPOSITORY / "protos", protos)
    path = protos / "lockstitch/v1" / file
    text, count = re.subn(pattern, replacement, path.read_text(), count=1)
    assert count == 1
    path.write_text(text)
    return protos


@pytest.mark.parametrize(
    ("file", "pattern", "replacement", "told"),
    [
        ("message.proto", r"int64 seq = 2;", "", 'field "2" with name "seq"'),
        ("message.proto", r"int64 seq = 2;", "int64 place = 2;", 'changed name from "seq" to "place"'),
        ("message.proto", r"int64 seq = 2;", "int32 seq = 2;", 'changed type from "int64" to "int32"'),
        ("message.proto", r"ROLE_TOOL = 3;", "", 'enum value "3"'),
        ("run_service.proto", r"  rpc RenewRun\(.*\n", "", 'RPC "RenewRun"'),
    ],
)
def test_what_breaks_the_wire_is_noticed(tmp_path: Path, file: str, pattern: str, replacement: str, told: str) -> None:
    done = breaking(changed(tmp_path, file, pattern, replacement))
    assert done.returncode != 0
    assert told in done.stdout, done.stdout + done.stderr


def test_what_the_wire_grows_by_is_not(tmp_path: Path) -> None:
    done = breaking(changed(tmp_path, "message.proto", r"int64 seq = 2;", "int64 seq = 2; int64 later = 99;"))
    assert done.returncode == 0, done.stdout + done.stderr
