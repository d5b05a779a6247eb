"""What bench/growth.py finds, and found when it ran last: to fill a store takes longer than a run of the bench may."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grown import MESSAGES as MESSAGES_EACH
from grown import Grown
from results import Figure, Measured, Missing, Table, Target

FILE = Path(__file__).with_name("GROWTH.json")
SESSIONS, MESSAGES = 1_000_000, 20_000_000
BOUND = 1.5


@dataclass(frozen=True, slots=True)
class Compared:
    """A call at either store, at so many in flight."""

    name: str
    in_flight: int
    ratio: float
    """How many times slower the grown store is."""
    young: float
    grown: float
    """A second."""
    young_pages: float
    grown_pages: float
    """Pages of the database that a call read, in memory or not."""
    scanned: float
    """Rows a call that were read without an index, at the grown store."""


async def recorded_growth() -> list[Measured]:
    """The worst of its ratios, where it filled as much as the target says."""
    if not FILE.is_file():
        return [Missing("growth_20m", "bench/growth.py was not run yet")]
    record = json.loads(FILE.read_text())
    worst = max(record["ratios"], key=lambda one: float(one["ratio"]))
    told = (
        f"{record['sessions']:,} sessions and {record['messages']:,} messages at {record['commit']}:"
        f" {worst['ratio']:.2f}, {worst['name']}"
    )
    if record["sessions"] < SESSIONS or record["messages"] < MESSAGES:
        return [Missing("growth_20m", f"bench/growth.py ran last with {told}")]
    return [Target("growth_20m", float(worst["ratio"])), Figure("growth, measured by bench/growth.py", told)]


def write(filled: Grown, compared: Sequence[Compared], where: str, measured: str) -> None:
    """Write GROWTH.json for the bench and GROWTH.md for people."""
    messages = filled.sessions * MESSAGES_EACH
    record = {
        "machine": where,
        "commit": measured,
        "sessions": filled.sessions,
        "messages": messages,
        "fill_seconds": round(filled.seconds),
        "disk_bytes": filled.disk_bytes,
        "ratios": [
            {
                "name": f"{one.name}, {one.in_flight} in flight",
                "ratio": round(one.ratio, 3),
                "young": round(one.young),
                "grown": round(one.grown),
                "young_pages": round(one.young_pages, 1),
                "grown_pages": round(one.grown_pages, 1),
                "scanned": round(one.scanned, 2),
            }
            for one in compared
        ],
    }
    FILE.write_text(json.dumps(record, indent=2) + "\n")
    header = (
        "call",
        "in flight",
        "a second at a thousand sessions",
        "grown",
        "ratio",
        "pages a call",
        "grown",
        "rows scanned a call",
    )
    rows = [
        (
            *(one.name, str(one.in_flight), f"{one.young:,.0f}", f"{one.grown:,.0f}"),
            f"{one.ratio:.2f}{'' if one.ratio <= BOUND else ' MISSED'}",
            *(f"{one.young_pages:.1f}", f"{one.grown_pages:.1f}", f"{one.scanned:.1f}"),
        )
        for one in compared
    ]
    table = "\n".join(Table("", header, tuple(rows)).lines())
    page = f"""# Growth

Written by `bench/growth.py --sessions {filled.sessions}` at {record["commit"]}, on {where}.

{filled.sessions:,} sessions with {messages:,} messages of 300 bytes, in the server's own tables, each with its log,
its memory and a tool call, took {filled.seconds:,.0f} s and {filled.disk_bytes / 2**30:.1f} GiB. This store and one of
a thousand sessions are called by turns, sessions drawn from all of each. The ratio, how many times slower the grown
store is, has to be at most {BOUND}.

{table}

Pages are those of tables and indexes that a call looked at, in memory or not: one more for each look into an index
whose tree is a level deeper. Rows scanned are those that it read without an index: a plan that was not made for a store
that grows reads many.
"""
    FILE.with_suffix(".md").write_text(page)
