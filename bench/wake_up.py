"""How soon a stream at one server gives what was committed at another."""

import asyncio
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles

from followers import followed
from lockstitch_server.embedded import running_urls
from lockstitch_server.server_process import ServerProcess
from results import Figure, Target
from stage import Stage, message


async def across_processes(stage: Stage, *, calls: int) -> list[Target | Figure]:
    """Put a second server on the same database, follow there and append here, one commit at a time."""
    settings = {"LOCKSTITCH_DATABASE_URL": running_urls(stage.server.data_dir).app}
    with tempfile.TemporaryDirectory(prefix="lockstitch-bench-") as name:
        other = await asyncio.to_thread(ServerProcess.start, Path(name) / "data", environment=settings)
        try:
            delays = await _delays(stage, other, calls)
        finally:
            await asyncio.to_thread(other.stop)
    slow = quantiles(delays, n=100)[98]
    return [
        Target("wake_up_across_processes_p50_ms", median(delays) * 1000),
        Figure("wake-up across processes, p99", f"{slow * 1000:.0f} ms"),
    ]


async def _delays(stage: Stage, other: ServerProcess, calls: int) -> list[float]:
    """From an append's receipt to its delivery, in seconds."""
    (session,) = await stage.sessions(1)
    delays: list[float] = []
    async with followed(other, [session.session_id]) as followers:
        for _ in range(calls):
            due = followers.delivered + 1
            await session.append(messages=[message()])
            acknowledged = time.perf_counter()
            await followers.have(due)
            delays.append(max(followers.last_at - acknowledged, 0.0))
    return delays
