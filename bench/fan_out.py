"""One session, many readers: what a delivery costs beside the bare echo, and how soon the last reader knows."""

import time
from statistics import median

import load
import processes
from followers import followed
from results import Figure, Target
from stage import Stage, message

APPENDS_IN_FLIGHT = 8
ECHOES_IN_FLIGHT = 32
READERS = 100
MANY_READERS = 1000


async def to_many_readers(stage: Stage, *, rounds: int, commits: int, echoes: int) -> list[Target | Figure]:
    """Alternate echoes with appends that 100 streams are given; then append alone before 1,000 streams."""
    (session,) = await stage.sessions(1)

    async def append(_number: int) -> object:
        return await session.append(messages=[message()])

    rates: list[float] = []
    echo_rates: list[float] = []
    pid, worked = stage.server.process.pid, 0.0
    async with followed(stage.server, [session.session_id], streams=READERS) as followers:
        for turn in range(-1, rounds):
            echo = await load.run(stage.echo.call, calls=echoes, in_flight=ECHOES_IN_FLIGHT)
            due = followers.delivered + commits * READERS
            before, began = processes.cpu_seconds(pid), time.perf_counter()
            await load.run(append, calls=commits, in_flight=APPENDS_IN_FLIGHT)
            await followers.have(due)
            if turn >= 0:  # the first turn warms both up
                rates.append(commits * READERS / (followers.last_at - began))
                echo_rates.append(echo.rate)
                worked += processes.cpu_seconds(pid) - before
    delays: list[float] = []
    async with followed(stage.server, [session.session_id], streams=MANY_READERS) as followers:
        for _ in range(rounds):
            due, began = followers.delivered + MANY_READERS, time.perf_counter()
            await append(0)
            await followers.have(due)
            delays.append(followers.last_at - began)
    return [
        Target("fan_out_vs_echo", median(one / other for one, other in zip(rates, echo_rates, strict=True))),
        Target("commit_to_1000_readers_ms", median(delays) * 1000),
        Figure("deliveries a second to 100 readers", f"{median(rates):,.0f}"),
        Figure("server's CPU a delivery to 100 readers", f"{worked / (rounds * commits * READERS) * 1e6:.0f} µs"),
    ]
