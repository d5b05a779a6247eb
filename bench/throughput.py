"""Append against the bare echo: how many a second, and how long one takes."""

from statistics import median

import load
import processes
from results import Figure, Target
from stage import Stage, message

IN_FLIGHT = 32
SESSIONS = 1000
ROUND_SECONDS = 1.0


async def append_against_echo(stage: Stage, *, rounds: int) -> list[Target | Figure]:
    """Alternate rounds of both at 32 in flight and at 1; the ratio is the median of neighbouring rounds'."""
    sessions = await stage.sessions(SESSIONS)

    async def append(number: int) -> object:
        return await sessions[number % SESSIONS].append(messages=[message()])

    await load.run(stage.echo.call, calls=SESSIONS, in_flight=IN_FLIGHT)
    warm = await load.run(append, calls=2 * SESSIONS, in_flight=IN_FLIGHT)
    calls = round(warm.rate * ROUND_SECONDS)
    worked = _cpu_seconds(stage)
    appends, echoes = await _alternate(stage, append, rounds=rounds, calls=calls, in_flight=IN_FLIGHT)
    server, backends = (after - before for after, before in zip(_cpu_seconds(stage), worked, strict=True))
    singles, single_echoes = await _alternate(stage, append, rounds=rounds, calls=calls // 8, in_flight=1)
    made = rounds * calls
    return [
        Target("append_vs_echo_python_client", _ratio([one.rate for one in appends], [one.rate for one in echoes])),
        Figure("appends a second at 32 in flight", f"{median(one.rate for one in appends):,.0f}"),
        Figure("echoes a second at 32 in flight", f"{median(one.rate for one in echoes):,.0f}"),
        Figure("append, p50 at 1 in flight", f"{median(one.p50_ms for one in singles):.2f} ms"),
        Figure("echo, p50 at 1 in flight", f"{median(one.p50_ms for one in single_echoes):.2f} ms"),
        Figure("server's CPU an append at 32 in flight", f"{server / made * 1e6:.0f} µs"),
        Figure("database's CPU an append at 32 in flight", f"{backends / made * 1e6:.0f} µs"),
    ]


async def _alternate(
    stage: Stage, append: load.Call, *, rounds: int, calls: int, in_flight: int
) -> tuple[list[load.Load], list[load.Load]]:
    appends: list[load.Load] = []
    echoes: list[load.Load] = []
    for _ in range(rounds):
        echoes.append(await load.run(stage.echo.call, calls=calls, in_flight=in_flight))
        appends.append(await load.run(append, calls=calls, in_flight=in_flight))
    return appends, echoes


def _ratio(ones: list[float], others: list[float]) -> float:
    return median(one / other for one, other in zip(ones, others, strict=True))


def _cpu_seconds(stage: Stage) -> tuple[float, float]:
    """What the server and its database have worked so far."""
    return processes.cpu_seconds(stage.server.process.pid), processes.children_cpu_seconds(stage.postmaster_pid)
