"""What came out: ratios with their targets, and figures and tables to read them by."""

import json
import operator
import platform
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from os import cpu_count
from pathlib import Path

from targets import TARGETS

ROOT = Path(__file__).resolve().parent.parent


class NotMeasured(Exception):
    """What a measure needs is not on this machine; the sentence says what."""


_COMPARE = {">=": operator.ge, "<=": operator.le, "==": operator.eq}


@dataclass(frozen=True, slots=True)
class Target:
    """A measured ratio that has a target, by its name."""

    name: str
    measured: float

    @property
    def target(self) -> str:
        """What it has to be: ">= 0.3"."""
        return TARGETS[self.name]

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


@dataclass(frozen=True, slots=True)
class Table:
    """Figures that are read side by side."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def lines(self) -> Iterator[str]:
        """As Markdown."""
        yield f"| {' | '.join(self.header)} |"
        yield "|---" * len(self.header) + "|"
        yield from (f"| {' | '.join(row)} |" for row in self.rows)


@dataclass(frozen=True, slots=True)
class Missing:
    """A target that could not be measured, and why."""

    name: str
    why: str


Measured = Target | Figure | Table | Missing


@dataclass(slots=True)
class Results:
    """Everything that one run measured."""

    machine: str
    commit: str
    targets: dict[str, Target] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    """Why a target was not measured."""
    failed: dict[str, str] = field(default_factory=dict)
    """How a part ended that broke off."""
    figures: list[Figure] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)

    def add(self, *measured: Measured) -> None:
        """Take in what a measure found, and say it."""
        for one in measured:
            match one:
                case Target():
                    self.targets[one.name] = one
                    print(_line(one.name, _short(one.measured), one.target, _verdict(one)), flush=True)
                case Figure():
                    self.figures.append(one)
                    print(f"  {one.name}: {one.value}", flush=True)
                case Table():
                    self.tables.append(one)
                    print("\n".join([f"  {one.title}", *one.lines()]), flush=True)
                case Missing():
                    self.missing[one.name] = one.why
                    print(_line(one.name, "-", TARGETS[one.name], f"not measured: {one.why}"), flush=True)

    def is_met(self, name: str) -> bool:
        """Whether a target was measured and met."""
        return name in self.targets and self.targets[name].is_met

    def write(self, folder: Path) -> None:
        """Write RESULTS.json for programs and RESULTS.md for people."""
        content = {
            "machine": self.machine,
            "commit": self.commit,
            "targets": [self._entry(name) for name in TARGETS],
            "tables": [{"title": one.title, "header": one.header, "rows": one.rows} for one in self.tables],
        }
        (folder / "RESULTS.json").write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n")
        (folder / "RESULTS.md").write_text(self._page((folder / "NOTES.md").read_text()))

    def table(self, names: Iterable[str]) -> Iterator[str]:
        """Targets, one a line, and what failed."""
        yield from (_line(*self._row(name)) for name in names)
        yield from (f"FAILED: {part}: {why}" for part, why in self.failed.items())

    def _entry(self, name: str) -> dict[str, object]:
        if name in self.targets:
            return {"name": name, "measured": round(self.targets[name].measured, 3), "target": TARGETS[name]}
        return {"name": name, "measured": None, "target": TARGETS[name], "why": self.missing.get(name, "")}

    def _row(self, name: str) -> tuple[str, str, str, str]:
        if name in self.targets:
            one = self.targets[name]
            return name, _short(one.measured), one.target, _verdict(one)
        return name, "-", TARGETS[name], f"not measured: {self.missing.get(name, 'its part did not come to it')}"

    def _page(self, notes: str) -> str:
        ratios = Table("", ("ratio", "measured", "target", ""), tuple(map(self._row, TARGETS)))
        figures = Table("", ("figure", ""), tuple((one.name, one.value) for one in self.figures))
        return "\n".join(
            [
                "# Results",
                "",
                f"Written by `make bench` at {self.commit}, on {self.machine}.",
                "",
                *ratios.lines(),
                "",
                *(line for part, why in self.failed.items() for line in (f"**{part}** broke off: {why}", "")),
                "Beside them, without a target, since they hang on the machine and on what else it does:",
                "",
                *(line for table in self.tables for line in (f"## {table.title}", "", *table.lines(), "")),
                "## Further figures",
                "",
                *figures.lines(),
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
    written = (":!bench/RESULTS.*", ":!bench/GROWTH.*", ":!bench/plots")
    changed = _git("status", "--porcelain", "--", *paths, *written)
    return _git("rev-parse", "--short=12", "HEAD") + ("-dirty" if changed else "")


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _line(name: str, measured: str, target: str, verdict: str) -> str:
    return f"{name:<48} {measured:>10}   {target:<10} {verdict}"


def _short(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"  # noqa: PLR2004 - three digits either way


def _verdict(one: Target) -> str:
    return "met" if one.is_met else "MISSED"
