"""Small windows of recorded histories, checked by porcupine too: another program, another model, the same verdict."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from faults.account import account_of
from faults.broken_changes import (
    Damage,
    a_guard_that_did_not_hold,
    a_lost_commit_and_another,
    a_stale_conflict,
    a_stale_read,
    swapped_versions,
    two_told_of_one_version,
)
from faults.check import broken_rules
from faults.damages import Damaged
from faults.history import Record, line_of

SOURCE = Path(__file__).parent / "porcupine"
GO = shutil.which("go")
Porcupine: TypeAlias = Callable[[Path], subprocess.CompletedProcess[str]]

pytestmark = pytest.mark.skipif(GO is None, reason="Go is not installed: histories are not checked by porcupine")


@pytest.fixture(scope="module")
def porcupine(session_folder: Path) -> Porcupine:
    """The program, built: a call checks a file."""
    program = session_folder / "porcupine"
    built = subprocess.run(
        [str(GO), "build", "-buildvcs=false", "-o", str(program), "."],
        cwd=SOURCE,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"GOFLAGS": "", "GOWORK": "off"},
    )
    assert built.returncode == 0, built.stderr

    def check(history: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run([str(program), str(history)], capture_output=True, text=True, check=False)

    return check


def _written(records: list[Record], path: Path) -> Path:
    path.write_text("".join(line_of(record) for record in records), encoding="utf-8")
    return path


def test_traffic_on_two_servers_is_linearizable(porcupine: Porcupine, traffic_history: Path) -> None:
    told = porcupine(traffic_history)
    assert told.returncode == 0, told.stdout + told.stderr
    windows = told.stdout.splitlines()
    assert len(windows) > 20
    assert all(": linearizable (" in window for window in windows)


def test_a_good_history_is_linearizable(porcupine: Porcupine, story: list[Record], folder: Path) -> None:
    told = porcupine(_written(story, folder / "story.jsonl"))
    assert told.returncode == 0, told.stdout + told.stderr


@pytest.mark.parametrize(
    "damage",
    [
        a_stale_read,
        a_stale_conflict,
        a_guard_that_did_not_hold,
        swapped_versions,
        two_told_of_one_version,
        a_lost_commit_and_another,
    ],
    ids=lambda damage: damage.__name__,
)
def test_what_porcupine_finds_is_found_by_a_rule(
    porcupine: Porcupine, story: list[Record], folder: Path, damage: Damage
) -> None:
    damaged = Damaged(story)
    damage(damaged)
    told = porcupine(_written(damaged.records, folder / "damaged.jsonl"))
    assert told.returncode == 1, told.stdout + told.stderr
    assert ": NOT linearizable (" in told.stdout
    assert broken_rules(account_of(damaged.records))


def test_a_history_that_is_no_history_is_refused(porcupine: Porcupine, folder: Path) -> None:
    path = folder / "none.jsonl"
    path.write_text("{}\nnot JSON\n", encoding="utf-8")
    told = porcupine(path)
    assert told.returncode == 2
    assert "line 2" in told.stderr
