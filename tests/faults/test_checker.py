"""Every rule finds the history that breaks it, and a good one breaks none."""

from pathlib import Path

import pytest

from faults.account import account_of
from faults.broken_changes import CHANGES, Damage
from faults.broken_views import VIEWS, a_doubled_frame
from faults.check import RULES, broken_rules, main
from faults.damages import Damaged
from faults.history import Record, line_of

BREAKS = CHANGES | VIEWS


def test_a_good_history_breaks_no_rule(story: list[Record]) -> None:
    assert broken_rules(account_of(story)) == {}


def test_traffic_on_whole_servers_breaks_no_rule(traffic_history: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, told = main(traffic_history), capsys.readouterr().out
    assert code == 0, told
    assert told.splitlines()[-1] == "violations 0"


def test_every_rule_has_a_history_that_breaks_it() -> None:
    assert BREAKS.keys() == RULES.keys()
    assert not CHANGES.keys() & VIEWS.keys()


@pytest.mark.parametrize(
    ("rule", "damage"),
    [pytest.param(rule, damage, id=damage.__name__) for rule, all_of_it in BREAKS.items() for damage in all_of_it],
)
def test_a_damaged_history_is_reported_by_its_rule(story: list[Record], rule: str, damage: Damage) -> None:
    damaged = Damaged(story)
    damage(damaged)
    assert rule in broken_rules(account_of(damaged.records))


def test_a_line_that_a_crash_cut_off_is_passed_over(story: list[Record], folder: Path) -> None:
    path = folder / "cut.jsonl"
    whole = "".join(line_of(record) for record in story)
    path.write_text(whole + line_of(story[-1])[:-5], encoding="utf-8")
    assert main(path) == 0


def test_a_broken_history_is_told_by_its_rule(
    story: list[Record], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged, path = Damaged(story), folder / "damaged.jsonl"
    a_doubled_frame(damaged)
    path.write_text("".join(line_of(record) for record in damaged.records), encoding="utf-8")
    assert main(path) == 1
    assert "streams_are_unique: 1" in capsys.readouterr().out
