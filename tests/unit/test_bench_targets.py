"""The bench's targets: each is measured by exactly one part of a run, and no part measures another."""

import importlib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture(autouse=True)
def bench_modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    known = set(sys.modules)
    monkeypatch.syspath_prepend(str(BENCH))
    yield
    for name in set(sys.modules) - known:
        if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(BENCH)):
            del sys.modules[name]


def test_every_target_is_measured_by_one_part() -> None:
    parts, targets = importlib.import_module("parts"), importlib.import_module("targets")

    measured = Counter(name for part in parts.PARTS for name in part.targets)

    assert set(measured) == set(targets.TARGETS)
    assert set(measured.values()) == {1}


def test_a_target_is_a_comparison_and_a_number() -> None:
    targets = importlib.import_module("targets")

    assert all(re.fullmatch(r"(>=|<=|==) \d+(\.\d+)?", target) for target in targets.TARGETS.values())


def test_every_target_is_written_with_its_ratio_or_the_reason_why_there_is_none(tmp_path: Path) -> None:
    results, targets = importlib.import_module("results"), importlib.import_module("targets")
    first, second, *_ = targets.TARGETS
    made = results.Results("a machine", "a commit")
    made.add(results.Target(first, 4.25), results.Missing(second, "there was no Go"))
    (tmp_path / "NOTES.md").write_text("## Notes\n")

    made.write(tmp_path)

    told = json.loads((tmp_path / "RESULTS.json").read_text())
    entries = {one["name"]: one for one in told["targets"]}
    assert list(entries) == list(targets.TARGETS)
    assert entries[first]["measured"] == 4.25
    assert (entries[second]["measured"], entries[second]["why"]) == (None, "there was no Go")
    page = (tmp_path / "RESULTS.md").read_text()
    assert all(f"| {name} |" in page for name in targets.TARGETS)
    assert "there was no Go" in page


def test_a_missed_target_is_not_met_and_neither_is_one_that_was_not_measured() -> None:
    results, targets = importlib.import_module("results"), importlib.import_module("targets")
    at_most = next(name for name, target in targets.TARGETS.items() if target.startswith("<="))
    bound = float(targets.TARGETS[at_most].split()[1])
    made = results.Results("a machine", "a commit")

    assert not made.is_met(at_most)
    made.add(results.Target(at_most, bound * 1.01))
    assert not made.is_met(at_most)
    made.add(results.Target(at_most, bound))
    assert made.is_met(at_most)


async def test_a_part_that_breaks_off_is_named_and_leaves_the_others() -> None:
    run, parts, results = (importlib.import_module(name) for name in ("run", "parts", "results"))
    made = results.Results("a machine", "a commit")

    async def breaks(*_asked: object) -> list[object]:
        raise ConnectionError("nobody answers")

    async def needs_go(*_asked: object) -> list[object]:
        raise results.NotMeasured("there is no Go")

    async def measures(*_asked: object) -> list[object]:
        return [results.Target("renew_vs_echo", 0.9)]

    for part in (
        parts.Part("first", ("append_vs_echo",), breaks),
        parts.Part("second", ("append_vs_pgbench",), needs_go),
        parts.Part("third", ("renew_vs_echo", "fenced_append_vs_plain"), measures),
    ):
        await run.run_part(part, None, made, quick=False, seconds_max=10.0)

    assert made.failed == {"first": "ConnectionError: nobody answers"}
    assert made.missing["append_vs_echo"] == "ConnectionError: nobody answers"
    assert made.missing["append_vs_pgbench"] == "there is no Go"
    assert made.is_met("renew_vs_echo")
    assert "fenced_append_vs_plain" in made.missing


def test_the_readme_takes_the_table_of_the_last_run_and_keeps_the_rest() -> None:
    readme, ratios = importlib.import_module("readme"), importlib.import_module("peer_ratios")
    page = readme.README.read_text()
    table = {"title": ratios.TITLE, "header": ["", "appends a second"], "rows": [["a store", "12 / 34"]]}

    filled = readme.filled(page, {"tables": [table], "commit": "abc", "machine": "2 cores"})

    assert "| a store | 12 / 34 |" in filled
    assert "at abc" in filled
    assert readme.filled(filled, {"tables": [table], "commit": "abc", "machine": "2 cores"}) == filled
    before, after = page.split(readme.BEGIN)[0], page.split(readme.END)[1]
    assert filled.startswith(before)
    assert filled.endswith(after)
