"""Plays all faults, or those that are named, checks what callers saw, and prints and keeps a report.

`PYTHONPATH=tests python -m faults.run --seconds 1200 --reports DIR [--seed N] [NAME …]`
"""

import argparse
import asyncio
import faulthandler
import os
import secrets
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from faults import report as reports
from faults.report import Report
from faults.runner import FAULTS, Stages, play

SHOWN_MAX = 10
_SHOWN_CHARACTERS_MAX = 300


async def run(names: Sequence[str], folder: Path, *, seconds: float, seed: int) -> list[Report]:
    """Play faults one after the other, for so many seconds together."""
    played, stages = [], Stages()
    try:
        # What needs a stage of its own comes last.
        for fault in sorted((FAULTS[name] for name in names), key=lambda fault: fault.needs):
            told = await play(fault, stages, folder, seed=seed, seconds=seconds / len(names))
            played.append(told)
            print(told.line(), flush=True)  # noqa: T201 - it is for whoever waits
            for violation in told.violations[:SHOWN_MAX]:
                print(f"    {violation[:_SHOWN_CHARACTERS_MAX]}", flush=True)  # noqa: T201 - likewise
            if told.violations:
                print(f"    check it again: python -m faults.check {told.history}", flush=True)  # noqa: T201 - likewise
            reports.write(played, folder)
    finally:
        await stages.close()
    return played


def main() -> int:
    faulthandler.enable()
    parser = argparse.ArgumentParser(prog="python -m faults.run", description="Break it, and look what callers saw.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="what a fault's name begins with; all if left out")
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("LOCKSTITCH_FAULTS_SECONDS", "1200")))
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**31))
    parser.add_argument("--reports", type=Path, help="where histories and report.json go; a new folder if left out")
    parser.add_argument("--list", action="store_true", help="print the names of all faults")
    asked = parser.parse_args()
    if asked.list:
        print("\n".join(FAULTS))  # noqa: T201 - it was asked for
        return 0
    names = [name for name in FAULTS if not asked.names or name.startswith(tuple(asked.names))]
    if not names:
        parser.error(f"there is no fault whose name begins so; there are: {', '.join(FAULTS)}")
    folder = asked.reports or Path(tempfile.mkdtemp(prefix="lockstitch-faults-"))
    folder.mkdir(parents=True, exist_ok=True)
    print(f"seed {asked.seed}, {len(names)} faults in {asked.seconds:.0f} s, reports in {folder}", flush=True)  # noqa: T201
    try:
        played = asyncio.run(run(names, folder, seconds=asked.seconds, seed=asked.seed))
    except KeyboardInterrupt:
        print("stopped", flush=True)  # noqa: T201 - it was asked to
        return 130
    broken = [told for told in played if told.violations]
    print(f"{sum(len(told.violations) for told in played)} violations; reports in {folder}")  # noqa: T201 - the end
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
