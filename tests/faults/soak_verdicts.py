"""What a long run must have kept: memory, descriptors, connections, HOT updates, dead rows, waits and promises."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import linear_regression, mean, median, quantiles

from faults.tally import Tally

WARM_UP = 1 / 3
"""The share of the time in which servers get going: what they take then is not growth."""

GROWTH_PER_HOUR_MAX = 0.1
"""Of a server's memory."""
DESCRIPTORS_MORE_MAX = 20
CONNECTIONS_MAX = 2 * (10 + 1)
"""Of two servers: each a pool of ten, and a listener."""
HOT_SHARE_MIN = 0.9
DEAD_SHARE_MAX = 0.25
"""Of the rows that there are: autovacuum comes at a fifth."""
DEAD_ROWS_FEW = 1000
P99_RATIO_MAX = 1.5


@dataclass(frozen=True, slots=True)
class Sample:
    """How things stand at one moment."""

    seconds: float
    resident_mib: list[float]
    """Of each server."""
    descriptors: list[int]
    """Likewise."""
    connections: int
    """To the database, of both."""


@dataclass(frozen=True, slots=True)
class Table:
    """What Postgres counts of one table."""

    name: str
    updates: int
    hot_updates: int
    live: int
    dead: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a bound was kept."""

    what: str
    found: str
    bound: str
    holds: bool

    def row(self) -> str:
        return f"| {self.what} | {self.found} | {self.bound} | {'holds' if self.holds else '**BROKEN**'} |"


def verdicts(
    samples: Sequence[Sample], counted: Sequence[Table], took: Sequence[tuple[float, float]], tally: Tally
) -> list[Verdict]:
    """Judge what was found."""
    warm = [sample for sample in samples if sample.seconds >= samples[-1].seconds * WARM_UP]
    broken = sum(len(wrong) for wrong in tally.broken.values())
    return [
        *(_memory(warm, place) for place in range(len(warm[0].resident_mib))),
        *(_descriptors(warm, place) for place in range(len(warm[0].descriptors))),
        _at_most("connections to the database", max(sample.connections for sample in samples), CONNECTIONS_MAX),
        *_updates(counted),
        *_bloat(counted),
        _p99(took),
        Verdict("promises", f"{broken} broken", "none", not broken),
    ]


def _memory(warm: Sequence[Sample], place: int) -> Verdict:
    held = [sample.resident_mib[place] for sample in warm]
    slope, _ = linear_regression([sample.seconds for sample in warm], held)
    share = slope * 3600 / mean(held)
    found = f"{median(held):.0f} MiB, {slope * 3600:+.1f} MiB an hour ({share:+.1%})"
    return Verdict(
        f"memory of server {place + 1}", found, f"+{GROWTH_PER_HOUR_MAX:.0%} an hour", share <= GROWTH_PER_HOUR_MAX
    )


def _descriptors(warm: Sequence[Sample], place: int) -> Verdict:
    held = [sample.descriptors[place] for sample in warm]
    first, last = max(held[: len(held) // 2]), max(held[len(held) // 2 :])
    bound = first + DESCRIPTORS_MORE_MAX
    what = f"descriptors of server {place + 1}"
    return Verdict(what, f"at most {first}, later {last}", f"later at most {bound}", last <= bound)


def _at_most(what: str, found: int, bound: int) -> Verdict:
    return Verdict(what, f"at most {found}", f"at most {bound}", found <= bound)


def _updates(counted: Sequence[Table]) -> list[Verdict]:
    """Of the table that is updated most: each commit changes its session's row."""
    table = counted[0]
    share = table.hot_updates / max(1, table.updates)
    found = f"{share:.1%} of {table.updates:,}"
    return [Verdict(f"HOT updates of {table.name}", found, f"at least {HOT_SHARE_MIN:.0%}", share >= HOT_SHARE_MIN)]


def _bloat(counted: Sequence[Table]) -> list[Verdict]:
    told = []
    for table in counted:
        bound = max(DEAD_ROWS_FEW, round(table.live * DEAD_SHARE_MAX))
        if table.dead > bound or table is counted[0]:
            found = f"{table.dead:,} beside {table.live:,} live ones"
            told.append(Verdict(f"dead rows of {table.name}", found, f"at most {bound:,}", table.dead <= bound))
    return told


def _p99(took: Sequence[tuple[float, float]]) -> Verdict:
    last = took[-1][0]
    warm = [one for one in took if one[0] >= last * WARM_UP]
    middle = last * (1 + WARM_UP) / 2
    earlier, later = (
        quantiles([milliseconds for at, milliseconds in warm if (at >= middle) is is_later], n=100)[98]
        for is_later in (False, True)
    )
    bound = earlier * P99_RATIO_MAX
    return Verdict(
        "p99 of answered calls", f"{earlier:.1f} ms, later {later:.1f} ms", f"later {bound:.1f} ms", later <= bound
    )
