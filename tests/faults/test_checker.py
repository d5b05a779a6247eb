"""Every rule finds the history that breaks it, and a good one breaks none."""

from pathlib import Path

import pytest

from faults.account import account_of
from faults.broken_changes import CHANGES, Damage
from faults.broken_views import VIEWS, a_doubled_frame
from faults.check import RULES, broken_rules, main
from faults.damages import Damaged
from faults.history import Record, line_of
from faults.recorder import Recorder
from faults.servers import Servers
from faults.short_story import short_story
from faults.traffic import Pace, Traffic
from lockstitch_server.server_process import ServerProcess

BREAKS = CHANGES | VIEWS


def _names(servers: tuple[ServerProcess, ServerProcess], tenant: str) -> Servers:
    targets = {name: server.target for name, server in zip("ab", servers, strict=True)}
    return Servers(targets, servers[0].token(tenant=tenant, user="engine-1", role="engine"))


@pytest.fixture(scope="module")
async def story(server_pair: tuple[ServerProcess, ServerProcess], session_folder: Path) -> list[Record]:
    return await short_story(session_folder / "story.jsonl", _names(server_pair, "storytellers"))


def test_a_good_history_breaks_no_rule(story: list[Record]) -> None:
    assert broken_rules(account_of(story)) == {}


async def test_traffic_on_whole_servers_breaks_no_rule(
    server_pair: tuple[ServerProcess, ServerProcess], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, pace = folder / "traffic.jsonl", Pace(rate=200, versions=60)
    with Recorder(path, seed=7) as recorder:
        async with Traffic(recorder, _names(server_pair, "traffic"), seed=7, pace=pace) as traffic:
            await traffic.more(500)
    code, told = main(path), capsys.readouterr().out
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
