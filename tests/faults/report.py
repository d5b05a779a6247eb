"""What a fault did to callers, and what of it should not have been: a line for people, and JSON for machines."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from faults.tally import Tally


@dataclass
class Report:
    """One fault's."""

    fault: str
    seed: int
    history: str
    seconds: float = 0.0
    applied: int = 0
    well_seconds_max: float = 0.0
    """The longest that it took, once all was whole again, until both servers answered and changes were made."""
    tally: Tally = field(default_factory=Tally)
    violations: list[str] = field(default_factory=list)
    """What the history breaks, and what was found beside it."""
    skipped: str = ""
    """Why it was not played."""

    def take(self, tally: Tally) -> None:
        """Take over what a history holds, and what it breaks."""
        self.tally = tally
        self.violations += [f"{rule}: {wrong}" for rule, found in tally.broken.items() for wrong in found]

    def line(self) -> str:
        """For people."""
        if self.skipped:
            return f"{self.fault:40} SKIPPED: {self.skipped}"
        tally = self.tally
        return (
            f"{self.fault:40} {len(self.violations)} violations; {self.applied} times in {self.seconds:.0f} s, "
            f"well again within {self.well_seconds_max:.1f} s; {tally.operations.total():,} operations: "
            f"{tally.acknowledged:,} acknowledged, {tally.replays:,} replays, {tally.reads:,} reads, "
            f"{tally.refused.total():,} refused, {tally.unknown.total():,} unknown ({tally.unknown_in_log:,} made); "
            f"{tally.commits:,} commits, {tally.frames.total():,} frames of {tally.streams:,} streams"
        )

    def row(self) -> str:
        """The same as a row of `TABLE`."""
        if self.skipped:
            return f"| {self.fault} | skipped: {self.skipped} |"
        tally = self.tally
        cells = (
            self.fault,
            f"{self.seconds:.0f}",
            self.applied,
            f"{self.well_seconds_max:.1f}",
            *(f"{count:,}" for count in (tally.operations.total(), tally.acknowledged, tally.replays, tally.reads)),
            *(f"{count:,}" for count in (tally.refused.total(), tally.unknown.total(), tally.unknown_in_log)),
            *(f"{count:,}" for count in (tally.commits, tally.frames.total(), len(self.violations))),
        )
        return f"| {' | '.join(map(str, cells))} |"


TABLE = """\
| fault | seconds | times | well again within s | operations | acknowledged | replays | reads | refused | unknown \
| of them made | commits | frames | violations |
| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |
"""


def write(reports: Sequence[Report], folder: Path) -> None:
    """Write all reports as JSON and as a table, which are written anew after each fault."""
    told = [vars(report) | {"tally": vars(report.tally)} for report in reports]
    (folder / "report.json").write_text(json.dumps(told, indent=1) + "\n")
    rows = "".join(f"{row}\n" for row in [*(report.row() for report in reports), _total(reports)])
    (folder / "report.md").write_text(TABLE + rows)


def _total(reports: Sequence[Report]) -> str:
    total = Report("all", 0, "")
    for report in reports:
        total.seconds += report.seconds
        total.applied += report.applied
        total.well_seconds_max = max(total.well_seconds_max, report.well_seconds_max)
        total.tally.add(report.tally)
        total.violations += report.violations
    return total.row()
