"""What came out: ratios with their targets, and figures to read them by."""

import json
import operator
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from os import cpu_count
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_COMPARE = {">=": operator.ge, "<=": operator.le, "==": operator.eq}


@dataclass(frozen=True, slots=True)
class Target:
    """A measured ratio, and what it has to be: ">= 0.3"."""

    name: str
    measured: float
    target: str

    @property
    def is_met(self) -> bool:
        """Whether the measured ratio is what it has to be."""
        comparison, bound = self.target.split()
        return bool(_COMPARE[comparison](self.measured, float(bound)))


@dataclass(frozen=True, slots=True)
class Figure:
    """Something measured that has no target; it depends on the machine and on what else runs there."""

    name: str
    value: str


@dataclass(slots=True)
class Results:
    """Everything that one run measured."""

    machine: str
    commit: str
    targets: list[Target] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)

    def add(self, *measured: Target | Figure) -> None:
        """Take in what a measure found, and say it."""
        for one in measured:
            if isinstance(one, Target):
                self.targets.append(one)
                print(f"{one.name:<28} {_short(one.measured):>10}   {one.target:<10} {_verdict(one)}", flush=True)
            else:
                self.figures.append(one)
                print(f"  {one.name}: {one.value}", flush=True)

    def write(self, folder: Path) -> None:
        """Write RESULTS.json for programs and RESULTS.md for people."""
        ratios = [{"name": one.name, "measured": round(one.measured, 3), "target": one.target} for one in self.targets]
        content = {"machine": self.machine, "commit": self.commit, "targets": ratios}
        (folder / "RESULTS.json").write_text(json.dumps(content, indent=2) + "\n")
        (folder / "RESULTS.md").write_text(self._page((folder / "NOTES.md").read_text()))

    def _page(self, notes: str) -> str:
        rows = [f"| {one.name} | {_short(one.measured)} | {one.target} | {_verdict(one)} |" for one in self.targets]
        figures = [f"| {one.name} | {one.value} |" for one in self.figures]
        return "\n".join(
            [
                "# Results",
                "",
                f"Written by `make bench` at {self.commit}, on {self.machine}.",
                "",
                *("| ratio | measured | target | |", "|---|---|---|---|", *rows),
                "",
                "Beside them, without a target, since they hang on the machine and on what else it does:",
                "",
                *("| figure | |", "|---|---|", *figures),
                "",
                notes,
            ]
        )


def machine(postgres_version: str) -> str:
    """What the numbers were measured on."""
    libraries = ", ".join(f"{name} {version(name)}" for name in ("grpcio", "asyncpg", "uvloop"))
    return (
        f"{cpu_count()} cores ({_processor()}) shared by client, server and database, {platform.system()},"
        f" Python {platform.python_version()}, Postgres {postgres_version}, {libraries}"
    )


def commit(paths: Sequence[str] = ("server", "client", "migrations", "bench")) -> str:
    """The commit that was measured; "-dirty" where the files were not as committed."""
    changed = _git("status", "--porcelain", "--", *paths, ":!bench/RESULTS.*")
    return _git("rev-parse", "--short=12", "HEAD") + ("-dirty" if changed else "")


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _short(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"  # noqa: PLR2004 - three digits either way


def _verdict(one: Target) -> str:
    return "met" if one.is_met else "MISSED"
