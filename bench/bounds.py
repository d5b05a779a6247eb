"""Append beside what bounds it, the bare echo and Postgres alone, and one session beside many; native load."""

import re
import shutil
import subprocess
import tempfile
from asyncio import to_thread
from collections.abc import Sequence
from contextlib import AsyncExitStack
from math import ceil
from pathlib import Path
from statistics import median

import processes
from lockstitch.v1.session_service_pb2 import AppendRequest
from native import Calls, NativeLoad, prepared
from pgbench import CLIENTS, append_statement
from results import Figure, Measured, Missing, NotMeasured, Target
from stage import Stage, message

METHOD = "SessionService/Append"
IN_FLIGHT = 64
HOT_IN_FLIGHT = 32
SESSIONS = 1000


async def append_beside_its_bounds(stage: Stage, *, rounds: int, seconds: float) -> list[Measured]:
    """Alternate all of them; ratios are medians of neighbouring rounds'."""
    sessions = await stage.sessions(SESSIONS)
    requests = [AppendRequest(session_id=one.session_id, messages=[message()]) for one in sessions]
    token = stage.server.token(tenant="bench", user="bench")
    async with AsyncExitStack() as opened:
        echo = await opened.enter_async_context(prepared(stage.echo_target, token, METHOD, requests))
        append = await opened.enter_async_context(prepared(stage.server.target, token, METHOD, requests))
        hot = await opened.enter_async_context(prepared(stage.server.target, token, METHOD, requests[:1]))
        echoes: list[NativeLoad] = []
        appends: list[NativeLoad] = []
        turns: list[tuple[float, float]] = []
        pid, worked = stage.server.process.pid, 0.0
        for turn in range(-1, rounds):
            echoed = await echo.run(in_flight=IN_FLIGHT, seconds=seconds)
            before = processes.cpu_seconds(pid)
            appended = await append.run(in_flight=IN_FLIGHT, seconds=seconds)
            spent = processes.cpu_seconds(pid) - before
            one = await hot.run(in_flight=HOT_IN_FLIGHT, seconds=seconds)
            many = await append.run(in_flight=HOT_IN_FLIGHT, seconds=seconds)
            if turn >= 0:  # the first turn warms all up
                echoes.append(echoed)
                appends.append(appended)
                turns.append((one.rate, many.rate))
                worked += spent
        singles = [await append.run(in_flight=1, seconds=seconds), await echo.run(in_flight=1, seconds=seconds)]
        alone = await _against_pgbench(stage, append, rounds=rounds, seconds=seconds)
        h2load = await _h2load(stage, requests[0], seconds=seconds)
    return [
        Target("append_vs_echo", median(a.rate / e.rate for a, e in zip(appends, echoes, strict=True))),
        *alone,
        Target("hot_session_vs_spread", median(one / many for one, many in turns)),
        *_figures(appends, echoes, singles, worked),
        Figure("appends a second to one session, 32 in flight", f"{median(one for one, _ in turns):,.0f}"),
        *h2load,
    ]


def _figures(
    appends: Sequence[NativeLoad], echoes: Sequence[NativeLoad], singles: Sequence[NativeLoad], worked: float
) -> list[Figure]:
    generator = median(one.own_microseconds for one in echoes)
    return [
        Figure("appends and echoes a second, 64 in flight, native", f"{_rate(appends):,.0f}, {_rate(echoes):,.0f}"),
        Figure("append and echo, p50 at 1 in flight, native", f"{singles[0].p50_ms:.2f}, {singles[1].p50_ms:.2f} ms"),
        Figure("server's CPU an append at 64 in flight", f"{worked / sum(one.calls for one in appends) * 1e6:.0f} µs"),
        Figure("the native generator's own CPU a call", f"{generator:.0f} µs"),
    ]


async def _against_pgbench(stage: Stage, append: Calls, *, rounds: int, seconds: float) -> list[Measured]:
    try:
        with tempfile.TemporaryDirectory(prefix="lockstitch-bench-") as name:
            alone = await append_statement(stage, Path(name))
            turns: list[tuple[float, float]] = []
            for turn in range(-1, rounds):
                bound = await alone.rate(clients=CLIENTS, seconds=ceil(seconds))
                ours = await append.run(in_flight=IN_FLIGHT, seconds=seconds)
                if turn >= 0:
                    turns.append((ours.rate, bound))
    except (NotMeasured, RuntimeError) as error:
        return [Missing("append_vs_pgbench", str(error))]
    return [
        Target("append_vs_pgbench", median(ours / bound for ours, bound in turns)),
        Figure(
            f"the append's statement by pgbench, {CLIENTS} clients", f"{median(bound for _, bound in turns):,.0f}/s"
        ),
    ]


async def _h2load(stage: Stage, request: AppendRequest, *, seconds: float) -> list[Figure]:
    """The same echo by another generator, where it is installed: whether ours is the bottleneck."""
    program = shutil.which("h2load")
    if program is None:
        return []
    body = request.SerializeToString()
    with tempfile.NamedTemporaryFile(prefix="lockstitch-bench-") as file:
        file.write(b"\0" + len(body).to_bytes(4) + body)
        file.flush()
        command = [
            *(program, "--clients=1", "--threads=1", f"--max-concurrent-streams={IN_FLIGHT}"),
            *(f"--duration={ceil(seconds)}", f"--data={file.name}"),
            *("--header=content-type: application/grpc", "--header=te: trailers"),
            f"http://{stage.echo_target}/lockstitch.v1.{METHOD}",
        ]
        done = await to_thread(subprocess.run, command, check=True, capture_output=True, text=True)
    found = re.search(r"finished in [0-9.a-z]+, ([0-9.]+) req/s", done.stdout)
    return [Figure("echoes a second, 64 in flight, by h2load", f"{float(found[1]):,.0f}")] if found else []


def _rate(loads: Sequence[NativeLoad]) -> float:
    return median(one.rate for one in loads)
