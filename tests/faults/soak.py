"""Steady traffic for a long time on whole servers: what grows, though it should not?

`PYTHONPATH=tests python -m faults.soak --seconds 3600 --reports DIR [--seed N] [--rate N]`
"""

import argparse
import asyncio
import faulthandler
import json
import os
import secrets
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from factories import fresh
from faults.check import checked
from faults.history import Invoked, Returned, records_in
from faults.recorder import Recorder
from faults.servers import Servers
from faults.soak_verdicts import Sample, Table, Verdict, verdicts
from faults.stage import Stage, open_stage
from faults.tally import Tally
from faults.traffic import Pace, Traffic
from support.resources import resident_mib

SAMPLES = 180
"""So many are taken, in the time there is."""
SAMPLE_SECONDS_MIN = 1.0


async def soak(stage: Stage, history: Path, *, seconds: float, seed: int, rate: float) -> tuple[list[Sample], Tally]:
    """Let traffic run for so long, look from time to time, keep what was seen, and check what callers saw."""
    kept = history.with_suffix(".samples.json")
    targets = {server.name: server.near.target for server in stage.servers}
    samples: list[Sample] = []
    with Recorder(history, seed=seed, soak=seconds) as recorder:
        servers = Servers(targets, stage.token(tenant=fresh("soak")))
        async with Traffic(recorder, servers, seed=seed, pace=Pace(rate=rate)) as traffic:
            await traffic.more(10)
            began = time.monotonic()
            while (passed := time.monotonic() - began) < seconds:
                samples.append(await _sample(stage, passed))
                kept.write_text(json.dumps([asdict(sample) for sample in samples]) + "\n")
                await asyncio.sleep(max(SAMPLE_SECONDS_MIN, seconds / SAMPLES))
    return samples, checked(records_in(history))


async def _sample(stage: Stage, seconds: float) -> Sample:
    return Sample(
        seconds=seconds,
        resident_mib=[resident_mib(server.pid) for server in stage.servers],
        descriptors=[len(list(Path(f"/proc/{server.pid}/fd").iterdir())) for server in stage.servers],
        connections=len(await stage.backends()) + len(await stage.backends("lockstitch-listener")),
    )


async def tables(stage: Stage) -> list[Table]:
    """What Postgres counts of each table that was changed."""
    rows = await stage.database.as_superuser(
        """
        select relname, n_tup_upd, n_tup_hot_upd, n_live_tup, n_dead_tup from pg_stat_user_tables
        where n_tup_ins + n_tup_upd + n_tup_del > 0
        order by n_tup_upd desc, relname
        """
    )
    return [Table(*row) for row in rows]


def latencies(history: Path) -> list[tuple[float, float]]:
    """When each answered call was made, in seconds since the first, and how many milliseconds it took."""
    made: dict[int, int] = {}
    found: list[tuple[float, float]] = []
    first = 0
    for record in records_in(history):
        if isinstance(record, Invoked):
            first = first or record.at
            made[record.op] = record.at
        elif isinstance(record, Returned):
            at = made.pop(record.op)
            if record.outcome == "ok":
                found.append(((at - first) / 1e9, (record.at - at) / 1e6))
    return found


def write(
    folder: Path, judged: Sequence[Verdict], samples: Sequence[Sample], counted: Sequence[Table], tally: Tally
) -> str:
    """Write the verdicts as a table, and all figures as JSON; gives the table."""
    told = {
        "verdicts": [asdict(verdict) for verdict in judged],
        "samples": [asdict(sample) for sample in samples],
        "tables": [asdict(table) for table in counted],
        "tally": vars(tally),
    }
    (folder / "soak.json").write_text(json.dumps(told, indent=1) + "\n")
    rows = ["| what | found | bound | |", "| --- | --- | --- | --- |", *(verdict.row() for verdict in judged)]
    table = "".join(f"{row}\n" for row in rows)
    (folder / "soak.md").write_text(table)
    return table


async def run(folder: Path, *, seconds: float, seed: int, rate: float) -> bool:
    """Soak, judge and tell; whether every bound was kept."""
    history = folder / "soak.jsonl"
    async with open_stage() as stage:
        samples, tally = await soak(stage, history, seconds=seconds, seed=seed, rate=rate)
        counted = await tables(stage)
        complaints = [complaint for server in stage.servers for complaint in server.complaints()]
    judged = verdicts(samples, counted, latencies(history), tally)
    judged.append(Verdict("errors that servers logged", str(len(complaints)), "none", not complaints))
    print(tally.text(), write(folder, judged, samples, counted, tally), *complaints, sep="\n")  # noqa: T201 - the end
    return all(verdict.holds for verdict in judged)


def main() -> int:
    faulthandler.enable()  # a crash of gRPC's or the driver's, an hour in, would say nothing
    parser = argparse.ArgumentParser(prog="python -m faults.soak", description="Let it run, and look what grows.")
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("LOCKSTITCH_SOAK_SECONDS", "3600")))
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**31))
    parser.add_argument("--rate", type=float, default=Pace.rate, help="calls a second, all clients' together")
    parser.add_argument("--reports", type=Path, help="where history and figures go; a new folder if left out")
    asked = parser.parse_args()
    folder = asked.reports or Path(tempfile.mkdtemp(prefix="lockstitch-soak-"))
    folder.mkdir(parents=True, exist_ok=True)
    told = f"seed {asked.seed}, {asked.rate:g} calls a second for {asked.seconds:.0f} s, figures in {folder}"
    print(told, flush=True)  # noqa: T201 - it is for whoever waits
    holds = asyncio.run(run(folder, seconds=asked.seconds, seed=asked.seed, rate=asked.rate))
    print("every bound was kept" if holds else "A BOUND WAS BROKEN")  # noqa: T201 - the verdict
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
