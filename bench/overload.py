"""Overload: what calls that are let in take while ten times as many callers ask as keep the server busy."""

import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import grpc
import grpc.aio

import load
from direct import Direct, direct
from lockstitch_server.server_process import ServerProcess
from results import Figure, Target

CALLERS = 64
"""What keeps the server busy, and what it answers at a time under load (`calls_under_load`)."""

TIMES = 10
SETTLED_SECONDS = 1.0
"""Calls begun sooner are not counted: all callers begin at once, and a burst is let in."""

SESSIONS = 100
_HUNDREDTH = 100


async def beyond_what_it_can(*, calls: int) -> list[Target | Figure]:
    """Append with as many callers as keep it busy, then with ten times as many, who come again when told."""
    with TemporaryDirectory(prefix="lockstitch-bench-") as name:
        folder = Path(name)
        folder.chmod(0o711)  # noqa: ASYNC240 - nothing else runs yet. Root's Postgres runs as another account
        server = ServerProcess.start(folder / "data")
        try:
            async with _calling(server) as calling:
                names = [await calling.create(f"overload-{number}") for number in range(SESSIONS)]
                normal, _, rate = await _accepted(calling, names, callers=CALLERS, calls=calls, run="normal")
                taken, turned_away, busy_rate = await _accepted(
                    calling, names, callers=CALLERS * TIMES, calls=calls, run="overload"
                )
        finally:
            server.stop()
    return [
        Target("overload_p99_vs_normal", _p99(taken) / _p99(normal)),
        Figure("p99 of what is let in, and at ten times the callers", f"{_p99(normal):.0f}, {_p99(taken):.0f} ms"),
        Figure("appends a second, normally and at ten times the callers", f"{rate:,.0f}, {busy_rate:,.0f}"),
        Figure("turned away for each that was let in", f"{turned_away / calls:.1f}"),
    ]


@asynccontextmanager
async def _calling(server: ServerProcess) -> AsyncIterator[Direct]:
    async with direct(server.target, server.token(tenant="bench", user="bench", role="engine")) as made:
        yield made


async def _accepted(
    calling: Direct, names: list[str], *, callers: int, calls: int, run: str
) -> tuple[list[float], int, float]:
    """The milliseconds of each call that was let in, how many were turned away, and how many were made a second."""
    milliseconds: list[float] = []
    turned_away = 0
    settled = time.perf_counter() + SETTLED_SECONDS

    async def append(number: int) -> None:
        nonlocal turned_away
        while True:
            began = time.perf_counter()
            try:
                await calling.append(names[number % SESSIONS], f"{run}{number}")
            except grpc.aio.AioRpcError as error:
                if error.code() is not grpc.StatusCode.UNAVAILABLE:
                    raise
                turned_away += 1
                pushback = dict(error.trailing_metadata() or ())["grpc-retry-pushback-ms"]
                await asyncio.sleep(int(pushback) / 1000 * random.uniform(1, 1.2))
            else:
                if began > settled:
                    milliseconds.append((time.perf_counter() - began) * 1000)
                return

    made = await load.run(append, calls=calls, in_flight=callers)
    return milliseconds, turned_away, made.rate


def _p99(milliseconds: list[float]) -> float:
    return sorted(milliseconds)[-1 - len(milliseconds) // _HUNDREDTH]
