"""Deliveries of one session's commits to native subscribers."""

import asyncio
import json
import subprocess
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from statistics import median, quantiles

import load
import processes
from lockstitch.v1.session_service_pb2 import AppendRequest
from lockstitch.v1.subscription_pb2 import SubscribeRequest
from native import Calls, prepared
from results import Table
from stage import Stage, message

APPENDS_IN_FLIGHT = 8
LATENCIES = 40
_COMMITS_A_SECOND_MAX = 2000
_DELIVERIES_A_SECOND = 20_000
_WAIT_SECONDS_MAX = 60.0


class Subscribers:
    """A process with so many streams, which tells each time they all were given one commit more."""

    def __init__(self, process: "subprocess.Popen[str]", streams: int) -> None:
        """Use `subscribed`."""
        self._process = process
        self._streams = streams
        self.commits = 0

    async def live(self) -> None:
        """Wait until all have caught up."""
        if (line := await self._line()).strip() != "live":
            raise RuntimeError(f"the subscribers said {line!r}")

    async def have(self, commits: int) -> int:
        """Wait until all were given so many commits since the beginning; gives when, by the clock of the machine."""
        at = 0
        while self.commits < commits:
            told = json.loads(await self._line())
            self.commits, at = told["delivered"] // self._streams, told["at"]
        return int(at)

    async def _line(self) -> str:
        if self._process.stdout is None:
            raise AssertionError  # it is a pipe
        async with asyncio.timeout(_WAIT_SECONDS_MAX):
            line = await asyncio.to_thread(self._process.stdout.readline)
        if not line:
            raise RuntimeError("the subscribers ended")
        return line


async def fan_out(stage: Stage, *, streams: Sequence[int], seconds: float) -> Table:
    """One session, and so many streams of one connection: deliveries a second, and how long one commit takes to all."""
    rows = [await _row(stage, count, seconds) for count in streams]
    header = ("streams", "deliveries a second", "one commit to all, p50", "p99", "server's CPU a delivery")
    return Table("Subscribe: one session's commits, appended 8 at a time", header, tuple(rows))


async def _row(stage: Stage, streams: int, seconds: float) -> tuple[str, ...]:
    (session,) = await stage.sessions(1)
    token = stage.server.token(tenant="bench", user=f"subscriber-{streams}")
    requests = [SubscribeRequest(session_id=session.session_id, after_version=session.version)] * streams
    append = AppendRequest(session_id=session.session_id, messages=[message()])
    commits = round(seconds * min(_COMMITS_A_SECOND_MAX, max(_DELIVERIES_A_SECOND // streams, 20)))
    pid = stage.server.process.pid
    async with (
        prepared(stage.server.target, token, "SessionService/Subscribe", requests) as calls,
        prepared(stage.server.target, token, "SessionService/Append", [append]) as appends,
        subscribed(calls, streams) as subscribers,
    ):
        await appends.run(in_flight=APPENDS_IN_FLIGHT, seconds=_WAIT_SECONDS_MAX, calls=commits // 4 + 1, warm_up=False)
        warm = commits // 4 + 1
        await subscribers.have(warm)
        worked, began = processes.cpu_seconds(pid), time.time_ns()
        await appends.run(in_flight=APPENDS_IN_FLIGHT, seconds=_WAIT_SECONDS_MAX, calls=commits, warm_up=False)
        took = (await subscribers.have(warm + commits) - began) / 1e9
        worked = processes.cpu_seconds(pid) - worked
        delays: list[float] = []

        async def one(number: int) -> None:
            sent = time.time_ns()
            await session.append(messages=[message()])
            delays.append((await subscribers.have(warm + commits + number + 1) - sent) / 1e6)

        await load.run(one, calls=LATENCIES, in_flight=1)
    deliveries = commits * streams
    return (
        str(streams),
        f"{deliveries / took:,.0f}",
        f"{median(delays):.1f} ms",
        f"{quantiles(delays, n=100)[98]:.1f} ms",
        f"{worked / deliveries * 1e6:.0f} µs",
    )


@asynccontextmanager
async def subscribed(calls: Calls, streams: int) -> AsyncIterator[Subscribers]:
    """Open a stream for each prepared request; all are live when the context begins."""
    with calls.started("-follow-every", str(streams)) as process:
        subscribers = Subscribers(process, streams)
        await subscribers.live()
        yield subscribers
