"""What a history holds, counted, and which rules it breaks: as text, and as JSON."""

import json
from collections import Counter
from dataclasses import dataclass, field, fields

from faults.account import Account, Operation, Whole, is_of_server

SHOWN_MAX = 5


@dataclass
class Tally:
    """Counts of one history, or of several together."""

    seconds: float = 0.0
    sessions: int = 0
    operations: Counter[str] = field(default_factory=Counter)
    """By method."""
    acknowledged: int = 0
    """Changes that were answered."""
    refused: Counter[str] = field(default_factory=Counter)
    """By reason."""
    unknown: Counter[str] = field(default_factory=Counter)
    """By code."""
    unknown_in_log: int = 0
    """Requests of which nobody was told, that the log has."""
    replays: int = 0
    reads: int = 0
    streams: int = 0
    frames: Counter[str] = field(default_factory=Counter)
    """By kind."""
    commits: int = 0
    commits_of_server: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    """By name."""
    broken: dict[str, list[str]] = field(default_factory=dict)
    """What breaks which rule."""

    def add(self, other: "Tally") -> None:
        """Count another history's, too; what it breaks stays its own."""
        for counted in fields(self):
            if counted.name != "broken":
                setattr(self, counted.name, getattr(self, counted.name) + getattr(other, counted.name))

    def text(self) -> str:
        """A few lines for people."""
        lines = [
            f"{self.seconds:.0f} s, {self.sessions} sessions",
            f"operations {self.operations.total()}: {_by(self.operations)}",
            f"acknowledged {self.acknowledged}, of them replays {self.replays}; reads {self.reads}",
            f"refused {self.refused.total()}: {_by(self.refused)}",
            f"unknown {self.unknown.total()}: {_by(self.unknown)}; {self.unknown_in_log} never known, yet in the log",
            f"commits {self.commits}, the server's own {self.commits_of_server}",
            f"streams {self.streams}, frames {self.frames.total()}: {_by(self.frames)}",
            f"faults {self.faults.total()}: {_by(self.faults)}",
            f"violations {sum(len(wrong) for wrong in self.broken.values())}",
        ]
        for name, wrong in self.broken.items():
            lines.append(f"  {name}: {len(wrong)}")
            lines += [f"    {one}" for one in wrong[:SHOWN_MAX]]
        return "\n".join(lines)

    def json(self) -> str:
        """The same for programs."""
        # Not by asdict, which makes a Counter of a Counter's items.
        return json.dumps(vars(self), ensure_ascii=False, indent=2)


def tally_of(whole: Whole, broken: dict[str, list[str]]) -> Tally:
    """Count what a history holds."""
    tally = Tally(sessions=len(whole.accounts), broken=broken)
    times = [whole.began.at]
    for account in whole.accounts:
        for operation in account.operations:
            _count(tally, operation)
            times.append(operation.asked.at)
        for stream in account.streams:
            tally.streams += 1
            tally.frames.update(frame.frame for frame in stream.frames)
        tally.commits += len(account.commits)
        tally.commits_of_server += sum(is_of_server(commit) for commit in account.commits)
        tally.unknown_in_log += _never_known(account)
    tally.faults.update(fault.name for fault in whole.faults if fault.phase == "begins")
    tally.seconds = (max(times) - whole.began.at) / 1e9
    return tally


def _never_known(account: Account) -> int:
    """How many requests the log has whose clients were never told."""
    made = {account.by_hash[found] for found in account.version_of_hash.keys() & account.by_hash.keys()}
    return len(made - {operation.asked.request_id for operation in account.changes if operation.is_ok})


def _count(tally: Tally, operation: Operation) -> None:
    told = operation.told
    tally.operations[operation.asked.method] += 1
    if told is None or operation.is_unknown:
        tally.unknown[(told.reason or told.code) if told else "never returned"] += 1
    elif operation.is_refused:
        tally.refused[told.reason] += 1
    elif told.receipt is not None:
        tally.acknowledged += 1
        tally.replays += told.receipt["replayed"]
    else:
        tally.reads += 1


def _by(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.most_common())
