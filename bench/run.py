"""Measures what we publish, all of it in one run: `make bench`."""

import argparse
import asyncio
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import grpc.aio
import uvloop

from parts import PARTS, Part
from results import Figure, Missing, NotMeasured, Results, commit, machine
from stage import Stage, end_when_told, made_stage

SECONDS_MAX = 2400.0
"""More than any run should take; others may be at work."""


async def measure(parts: Sequence[Part], *, quick: bool) -> Results:
    """Run parts on one stage, each whatever became of those before it."""
    end_when_told()
    ends = time.monotonic() + SECONDS_MAX
    measured = commit()
    async with made_stage() as stage:
        results = Results(machine(await stage.database.version()), measured)
        print(f"{results.commit} on {results.machine}\n", flush=True)
        for part in parts:
            seconds_max = min(part.seconds_max, max(ends - time.monotonic(), 0))
            await run_part(part, stage, results, quick=quick, seconds_max=seconds_max)
    return results


async def run_part(part: Part, stage: Stage, results: Results, *, quick: bool, seconds_max: float) -> None:
    """Measure one part; where it breaks off, say so, and what was not measured for that."""
    began = time.monotonic()
    why = ""
    limit = asyncio.timeout(seconds_max)
    try:
        async with limit:
            results.add(*await part.measure(stage, quick))
    except NotMeasured as error:
        why = str(error)
    except Exception as error:  # noqa: BLE001 - whatever it is, the other parts are measured
        why = f"it was not done within {seconds_max:.0f} s" if limit.expired() else _said(error)
        results.failed[part.name] = why
    left = [name for name in part.targets if name not in results.targets and name not in results.missing]
    results.add(*(Missing(name, why or "its part did not come to it") for name in left))
    if why and not left:
        results.add(Figure(part.name, f"not measured: {why}"))
    print(f"  ({part.name}: {time.monotonic() - began:.0f} s)", flush=True)


def _said(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, grpc.aio.AioRpcError):
        return f"{error.code().name}: {error.details()}"
    first_line, _, _ = str(error).partition("\n")
    return f"{type(error).__name__}: {first_line}"


def main() -> int:
    """Measure, write what came out, and fail where a target was missed or not measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="look whether all runs; writes no results")
    parser.add_argument(
        "--only", metavar="PART", action="append", choices=[part.name for part in PARTS], help="writes no results"
    )
    asked = parser.parse_args()
    parts = [part for part in PARTS if not asked.only or part.name in asked.only]
    began = time.monotonic()
    results = uvloop.run(measure(parts, quick=asked.quick))
    told = [name for part in parts for name in part.targets]
    print("", *results.table(told), f"{time.monotonic() - began:.0f} s", sep="\n", flush=True)
    if asked.quick:
        return 1 if results.failed else 0
    if not asked.only:
        results.write(Path(__file__).parent)
    return 0 if all(results.is_met(name) for name in told) and not results.failed else 1


if __name__ == "__main__":
    sys.exit(main())
