"""Measures what we publish, all of it in one run: `make bench`."""

import argparse
import asyncio
import signal
import sys
import time
from pathlib import Path

import uvloop

from checkpoints import puts_and_growth
from contention import one_session
from drafts import against_appends
from endurance import many_appends
from fan_out import to_many_readers
from flatness import read_and_append
from forks import long_sessions
from import_speed import import_against_append
from lists import sessions_and_removals
from overload import beyond_what_it_can
from results import Results, commit, machine
from round_trips import of_each_call
from runs import fenced_and_renewed
from stage import made_stage
from streams import beside_writers, idle
from sweeping import beside_a_backlog
from throughput import append_against_echo
from wake_up import across_processes

SECONDS_MAX = 1200
"""On a quiet machine it takes two to three minutes; others may be at work."""


async def measure(*, quick: bool) -> Results:
    """Run every measure on one stage; `quick` looks whether they run, at numbers that mean nothing."""
    # Told to end, it ends what it started.
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, _this_task().cancel)
    async with asyncio.timeout(SECONDS_MAX), made_stage() as stage:
        results = Results(machine(await stage.database.version()), commit())
        print(f"{results.commit} on {results.machine}\n", flush=True)
        results.add(*await of_each_call(stage))
        results.add(*await append_against_echo(stage, rounds=3 if quick else 25))
        contended, _ = await one_session(stage)
        results.add(*contended)
        results.add(
            *await read_and_append(
                stage, long=500 if quick else 5000, rounds=3 if quick else 15, calls=40 if quick else 200
            )
        )
        results.add(
            *await sessions_and_removals(
                stage,
                sessions=500 if quick else 10_000,
                removals=500 if quick else 10_000,
                rounds=3 if quick else 15,
                calls=10 if quick else 40,
            )
        )
        results.add(*await long_sessions(stage, messages=1000 if quick else 10_000, rounds=3 if quick else 9))
        results.add(
            *await puts_and_growth(
                stage, rounds=3 if quick else 9, calls=200 if quick else 1500, steps=100 if quick else 1000
            )
        )
        results.add(*await idle(stage))
        results.add(*await beside_writers(stage, rounds=3 if quick else 15, calls=500 if quick else 2000))
        results.add(
            *await to_many_readers(
                stage, rounds=3 if quick else 15, commits=20 if quick else 200, echoes=500 if quick else 4000
            )
        )
        results.add(*await across_processes(stage, calls=20 if quick else 200))
        results.add(
            *await import_against_append(stage, messages=5_000 if quick else 100_000, appends=1_000 if quick else 8_000)
        )
        results.add(*await fenced_and_renewed(stage, rounds=2 if quick else 15, calls=300 if quick else 2000))
        results.add(*await against_appends(stage, seconds=1 if quick else 5, appends=500 if quick else 5000))
        results.add(
            *await beside_a_backlog(
                stage, expired=1_000 if quick else 100_000, rounds=2 if quick else 10, calls=500 if quick else 3000
            )
        )
        results.add(*await beyond_what_it_can(rounds=1 if quick else 2, seconds=1 if quick else 5))
        results.add(*await many_appends(stage, appends=5_000 if quick else 100_000))
    return results


def _this_task() -> "asyncio.Task[object]":
    task = asyncio.current_task()
    if task is None:
        raise AssertionError  # a coroutine runs in one
    return task


def main() -> int:
    """Measure, write what came out, and fail where a target was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a short run that writes no results")
    quick = parser.parse_args().quick
    began = time.monotonic()
    results = uvloop.run(measure(quick=quick))
    print(f"\n{time.monotonic() - began:.0f} s", flush=True)
    if quick:
        return 0
    results.write(Path(__file__).parent)
    return 0 if results.all_met else 1


if __name__ == "__main__":
    sys.exit(main())
