"""Plays a fault: traffic, the fault again and again, each time until all is well; then everything is checked."""

import asyncio
import re
import time
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random

from grpc import aio

from factories import fresh
from faults import caller_faults, failpoint_faults, machine_faults, network_faults, process_faults, stalled_streams
from faults.check import checked
from faults.fault import FAULTS, Fault, Needs, Play
from faults.history import records_in
from faults.recorder import Recorder
from faults.report import Report
from faults.servers import Servers
from faults.stage import Server, Stage, open_stage
from faults.traffic import Traffic
from lockstitch.v1.admin_service_pb2 import GetServerInfoRequest
from support.callers import Caller
from support.orphans import orphans
from support.waiting import until_true

__all__ = ["FAULTS", "Stages", "play"]

FAULT_MODULES = (process_faults, network_faults, machine_faults, failpoint_faults, caller_faults, stalled_streams)
"""Importing them fills the list of faults."""

SMALL_DISK_BYTES = 400 * 1024 * 1024
CHANGES_BETWEEN = 10
WELL_SECONDS_MAX = 60.0
_PROBE_SECONDS = 2.0


class Stages:
    """Opens stages as faults need them; one that was left broken is not used again."""

    def __init__(self) -> None:
        self._stage: Stage | None = None
        self._has: Needs = ""
        self._open = AsyncExitStack()

    async def on(self, needs: Needs) -> Stage:
        """Give the stage whose database has what is needed."""
        if self._stage is None or self._has != needs:
            await self.close()
            opening = open_stage(
                SMALL_DISK_BYTES if needs == "small disk" else 0, own_clock=needs == "clock of its own"
            )
            self._stage, self._has = await self._open.enter_async_context(opening), needs
        return self._stage

    async def close(self) -> None:
        self._stage = None
        await self._open.aclose()


async def play(
    fault: Fault, stages: Stages, folder: Path, *, seed: int, seconds: float = 0.0, hold_max: float = 60.0
) -> Report:
    """Play a fault for so many seconds, at least once in each of its ways; its history stays in the folder."""
    history = folder / f"{re.sub(r'[^a-z0-9]+', '-', fault.name.lower()).strip('-')}.jsonl"
    report = Report(fault.name, seed, str(history), skipped=fault.missing())
    if report.skipped:
        return report
    stage, began = await stages.on(fault.needs), time.monotonic()
    try:
        await _played(fault, stage, report, seconds=seconds, hold_max=hold_max)
        report.violations += [f"rows at odds: {found}" for found in await orphans(stage.database)]
    except (AssertionError, TimeoutError, ExceptionGroup, aio.AioRpcError) as error:
        report.violations.append(f"all was not well again: {error!r}")
    report.violations += [complaint for server in stage.servers for complaint in server.complaints()]
    report.seconds = time.monotonic() - began
    report.take(checked(records_in(history)))
    if report.violations:
        await stages.close()
    return report


async def _played(fault: Fault, stage: Stage, report: Report, *, seconds: float, hold_max: float) -> None:
    random = Random(f"{report.seed} {fault.name}")
    with Recorder(Path(report.history), seed=report.seed, fault=fault.name) as recorder:
        servers = Servers(
            {server.name: server.near.target for server in stage.servers}, stage.token(tenant=fresh("tenant"))
        )
        async with Traffic(recorder, servers, seed=random.getrandbits(32)) as traffic:
            on = Play(stage, recorder, servers, traffic, random)
            await traffic.more(CHANGES_BETWEEN)
            ends = time.monotonic() + seconds
            while on.turn < fault.variants or time.monotonic() < ends:
                with recorder.fault(fault.name, turn=on.turn):
                    async with fault.breaks(on):
                        await asyncio.sleep(min(hold_max, random.uniform(*fault.hold)))
                healed = time.monotonic()
                async with asyncio.TaskGroup() as group:
                    for server in stage.servers:
                        group.create_task(_well(server, servers))
                    group.create_task(traffic.more(CHANGES_BETWEEN, WELL_SECONDS_MAX))
                report.well_seconds_max = max(report.well_seconds_max, time.monotonic() - healed)
                on.turn += 1
                report.applied = on.turn


async def _well(server: Server, servers: Servers) -> None:
    """Wait until a server answers whoever comes anew."""
    async with Caller(server.near.target, servers.token) as caller:

        async def answers() -> bool:
            try:
                await caller.admin.GetServerInfo(GetServerInfoRequest(), timeout=_PROBE_SECONDS)
            except aio.AioRpcError:
                return False
            return True

        await until_true(answers, f"an answer of server {server.name}", WELL_SECONDS_MAX)
