"""Draws what RESULTS.json holds, into bench/plots: `make bench PLOT=1`, in a venv of its own."""

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt

HERE = Path(__file__).parent
_LEAST = 0.02
MET, MISSED = "#3b7a57", "#b03a2e"


def draw(results: dict[str, Any], folder: Path) -> None:
    """Every target beside its bound; then the rate and the p99 of each call by how many are in flight."""
    folder.mkdir(exist_ok=True)
    _targets(results, folder / "targets.png")
    calls = next((table for table in results["tables"] if "in flight" in table["header"]), None)
    if calls:
        _calls(calls, "a second", folder / "calls_a_second.png")
        _calls(calls, "p99", folder / "calls_p99_ms.png")


def _targets(results: dict[str, Any], file: Path) -> None:
    """How many times its bound each one reached: to the right of 1 is met."""
    bars = [_bar(one) for one in results["targets"] if one["measured"]]
    bars.reverse()
    figure, axes = plt.subplots(figsize=(10, 0.2 * len(bars) + 1))
    axes.barh(
        [name for name, _ in bars],
        [max(reached, _LEAST) for _, reached in bars],
        color=[MET if reached >= 1 else MISSED for _, reached in bars],
    )
    for place, (_, reached) in enumerate(bars):
        axes.text(max(reached, _LEAST), place, f" {reached:,.2f}", va="center", fontsize=7, clip_on=True)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.tick_params(axis="y", labelsize=7)
    axes.margins(y=0.01)
    axes.set(xscale="log", xlim=(_LEAST / 2, None), xlabel="times its bound: met from 1 on", title=results["commit"])
    figure.tight_layout()
    figure.savefig(file, dpi=120)
    plt.close(figure)


def _bar(one: dict[str, Any]) -> tuple[str, float]:
    comparison, bound = one["target"].split()
    measured = float(one["measured"])
    if comparison == "==":
        return one["name"], float(measured == float(bound)) or 0.1
    return one["name"], measured / float(bound) if comparison == ">=" else float(bound) / measured


def _calls(table: dict[str, Any], column: str, file: Path) -> None:
    place = table["header"].index(column)
    lines: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for row in table["rows"]:
        lines[row[0]].append((int(row[1]), float(re.sub(r"[^0-9.]", "", row[place]))))
    figure, axes = plt.subplots(figsize=(8, 5))
    for name, points in lines.items():
        axes.plot(*zip(*points, strict=True), marker="o", label=name)
    axes.set(xscale="log", yscale="log", xlabel="in flight", ylabel="ms" if column == "p99" else column, title=column)
    axes.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(file, dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    draw(json.loads((HERE / "RESULTS.json").read_text()), HERE / "plots")
