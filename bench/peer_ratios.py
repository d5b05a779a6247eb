"""What stands beside what: the peers' numbers as ratios and as a table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from contention import Contended
from peer import LOCKSTITCH, PEERS
from results import Measured, Missing, Table, Target

_NOTHING = "-"
_TITLES = {
    "google_adk": "google-adk, DatabaseSessionService",
    "openai_agents": "openai-agents, SQLAlchemySession",
    "langgraph": "langgraph, AsyncPostgresSaver",
    LOCKSTITCH: "lockstitch, Python client over gRPC",
}


@dataclass(slots=True)
class Taken:
    """What one of them took, a turn each."""

    appends: list[float] = field(default_factory=list)
    """A second, at 32 in flight."""
    singles: list[float] = field(default_factory=list)
    """Milliseconds, the median at 1 in flight."""
    log: list[float] = field(default_factory=list)
    disk: list[float] = field(default_factory=list)
    """Bytes an append."""
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
        against("disk_per_message", ["openai_agents"], lambda: _mean(own.disk) / _mean(agents.disk)),
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
    return Table("Beside what people use today", header, tuple(rows))


def _row(name: str, one: Taken, contended: Contended) -> tuple[str, ...]:
    return (
        _TITLES[name],
        f"{1000 / median(one.singles):,.0f} / {median(one.appends):,.0f}",
        f"{median(one.singles):.1f} ms",
        f"{median(one.loads):,.0f}" if one.loads else _NOTHING,
        f"{1000 / median(one.tails):,.0f}" if one.tails else _NOTHING,
        f"{median(one.log):,.0f} B",
        f"{_mean(one.disk) * 1000 / 1024:,.0f}",
        _own_fate(contended) if name == LOCKSTITCH else _fate(one.contended),
    )


def _own_fate(contended: Contended) -> str:
    plain, guarded = contended.plain, contended.guarded
    return (
        f"{plain.stored_once} stored once in {plain.seconds:.1f} s;"
        f" {plain.changed_reads} of {plain.reads} reads saw an order that later changed;"
        f" with expected_version {guarded.stored_once} stored once in {guarded.seconds:.1f} s,"
        f" {guarded.refused:,} refused"
    )


def _fate(contended: Mapping[str, Any]) -> str:
    if not contended:
        return _NOTHING
    return (
        f"{contended['acknowledged']} acknowledged in {contended['seconds']:.1f} s, {contended['lost']} of them lost,"
        f" {contended['doubled']} doubled;"
        f" {contended['changed_reads']} of {contended['reads'] - 1} reads saw an order that later changed;"
        f" {contended['refused']:,} refused"
    )


def _ratio(ones: Sequence[float], others: Sequence[float]) -> float:
    return median(one / other for one, other in zip(ones, others, strict=True))


def _best(best: Callable[[Sequence[float]], float], peers: Sequence[Sequence[float]]) -> list[float]:
    return [best(turn) for turn in zip(*peers, strict=True)]


def _mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers)
