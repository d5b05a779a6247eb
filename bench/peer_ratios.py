"""What stands beside what: the peers' numbers as ratios and as a table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from contention import MESSAGES, Contended
from peer import LOCKSTITCH, PEERS
from results import Measured, Missing, Table, Target

TITLE = "Beside what people use today"
_NOTHING = "-"
_CLASSES = {
    "google_adk": ("google-adk", "DatabaseSessionService"),
    "openai_agents": ("openai-agents", "SQLAlchemySession"),
    "langgraph": ("langgraph", "AsyncPostgresSaver"),
}
_PINNED = Path(__file__).with_name("peers") / "requirements.txt"


@dataclass(slots=True)
class Taken:
    """What one of them took, a turn each."""

    appends: list[float] = field(default_factory=list)
    """A second, at 32 in flight."""
    singles: list[float] = field(default_factory=list)
    """Milliseconds, the median at 1 in flight."""
    log: list[float] = field(default_factory=list)
    """Bytes an append."""
    disk: float = 0.0
    """Bytes an append, over all turns."""
    loads: list[float] = field(default_factory=list)
    """Conversations of 1,000 messages a second."""
    tails: list[float] = field(default_factory=list)
    short_tails: list[float] = field(default_factory=list)
    """Milliseconds, the median at 1 in flight."""
    contended: dict[str, Any] = field(default_factory=dict)


def ratios(taken: Mapping[str, Taken], failed: Mapping[str, str], contended: Contended) -> list[Measured]:
    """Ours against theirs; where one of them was not measured, there is no best one."""

    def against(target: str, peers: Sequence[str], ratio: Callable[[], float]) -> Measured:
        missing = [name for name in peers if name in failed]
        return Missing(target, f"{missing[0]}: {failed[missing[0]]}") if missing else Target(target, ratio())

    own = taken[LOCKSTITCH]
    adk, agents, graph = (taken[name] for name in PEERS)
    with_tails = [adk, agents]  # langgraph loads all or nothing
    return [
        against("append_vs_adk", ["google_adk"], lambda: _ratio(own.appends, adk.appends)),
        against("append_vs_openai_agents", ["openai_agents"], lambda: _ratio(own.appends, agents.appends)),
        against("append_vs_langgraph", ["langgraph"], lambda: _ratio(own.appends, graph.appends)),
        against(
            "append_latency_vs_best_peer",
            PEERS,
            lambda: _ratio(own.singles, _best(min, [adk.singles, agents.singles, graph.singles])),
        ),
        against(
            "load_1000_vs_best_peer",
            PEERS,
            lambda: _ratio(own.loads, _best(max, [adk.loads, agents.loads, graph.loads])),
        ),
        against("load_1000_vs_adk", ["google_adk"], lambda: _ratio(own.loads, adk.loads)),
        against(
            "tail_20_of_5000",
            PEERS[:2],
            lambda: _ratio(_best(min, [one.tails for one in with_tails]), own.tails),
        ),
        Target("tail_20_of_5000_vs_10", _ratio(own.tails, own.short_tails)),
        against("wal_per_append", ["openai_agents"], lambda: median(own.log) / median(agents.log)),
        against("disk_per_message", ["openai_agents"], lambda: own.disk / agents.disk),
        against(
            "one_session_32_writers_vs_adk",
            ["google_adk"],
            lambda: contended.guarded_rate / (max(adk.contended["acknowledged"], 1) / adk.contended["seconds"]),
        ),
    ]


def table(taken: Mapping[str, Taken], contended: Contended) -> Table:
    """All of them, side by side."""
    header = (
        "",
        "appends a second, 1 / 32 in flight",
        "p50 at 1",
        "1,000 messages loaded, a second at 32",
        "newest 20 of 5,000, a second at 1",
        "log an append",
        "KiB for 1,000 messages",
        "32 writers on one session, 640 messages",
    )
    rows = [_row(name, taken[name], contended) for name in (*PEERS, LOCKSTITCH) if taken[name].appends]
    return Table(TITLE, header, tuple(rows))


def _row(name: str, one: Taken, contended: Contended) -> tuple[str, ...]:
    return (
        _title(name),
        f"{1000 / median(one.singles):,.0f} / {median(one.appends):,.0f}",
        f"{median(one.singles):.1f} ms",
        f"{median(one.loads):,.0f}" if one.loads else _NOTHING,
        f"{1000 / median(one.tails):,.0f}" if one.tails else _NOTHING,
        f"{median(one.log):,.0f} B",
        f"{one.disk * 1000 / 1024:,.0f}",
        _own_fate(contended) if name == LOCKSTITCH else _fate(one.contended),
    )


def _title(name: str) -> str:
    if name == LOCKSTITCH:
        return "lockstitch, over gRPC"
    package, of = _CLASSES[name]
    pin = next(line for line in _PINNED.read_text().splitlines() if line.startswith(f"{package}=="))
    return f"{package} {pin.partition('==')[2].rpartition('.')[0]}, {of}"


def _own_fate(contended: Contended) -> str:
    plain, guarded = contended.plain, contended.guarded
    lost = MESSAGES - plain.stored_once
    told = f"{plain.stored_once} stored in {plain.seconds:.0f} s, {_faults(lost, 0, plain.changed_reads, plain.reads)}"
    return f"{told}; {guarded.stored_once} with a version each in {guarded.seconds:.0f} s, {guarded.refused:,} retries"


def _fate(contended: Mapping[str, Any]) -> str:
    if not contended:
        return _NOTHING
    faults = _faults(*(contended[name] for name in ("lost", "doubled", "changed_reads", "reads")))
    told = f"{contended['acknowledged']} acknowledged in {contended['seconds']:.0f} s, {faults}"
    return f"{told}; {contended['refused']:,} retries" if contended["refused"] else told


def _faults(lost: int, doubled: int, changed_reads: int, reads: int) -> str:
    faults = [f"{count} {what}" for count, what in ((lost, "lost"), (doubled, "doubled")) if count]
    if changed_reads:
        faults.append(f"{changed_reads} of {reads} reads saw an order that changed later")
    return " and ".join(faults) or "none lost or doubled, no order changed"


def _ratio(ones: Sequence[float], others: Sequence[float]) -> float:
    return median(one / other for one, other in zip(ones, others, strict=True))


def _best(best: Callable[[Sequence[float]], float], peers: Sequence[Sequence[float]]) -> list[float]:
    return [best(turn) for turn in zip(*peers, strict=True)]
