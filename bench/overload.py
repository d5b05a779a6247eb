"""Overload: what calls that are let in take while ten times as many callers ask as keep the server busy."""

import asyncio
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from direct import direct
from lockstitch.v1.session_service_pb2 import AppendRequest
from lockstitch_server.server_process import ServerProcess
from native import Calls, NativeLoad, prepared
from results import Figure, Measured, Target
from stage import message

CALLERS = 64
"""What keeps the server busy, and is no queue yet (1.5 times `calls_under_load`)."""

TIMES = 10
SETTLED_SECONDS = 2.0
"""Calls begun sooner are not counted: all callers begin at once, and a burst is let in."""

COME_AGAIN_SECONDS_MAX = 4.0
SESSIONS = 100
_CONNECTIONS = 8


async def beyond_what_it_can(*, rounds: int, seconds: float) -> list[Measured]:
    """Append with as many callers as keep it busy, then with ten times as many, who come again when told; by turns."""
    with TemporaryDirectory(prefix="lockstitch-bench-") as name:
        folder = Path(name)
        folder.chmod(0o711)  # noqa: ASYNC240 - nothing else runs yet. Root's Postgres runs as another account
        server = ServerProcess.start(folder / "data")
        try:
            normal, taken = await _by_turns(server, rounds, seconds)
        finally:
            server.stop()
    ratio = median(crowd.p99_ms / few.p99_ms for few, crowd in zip(normal, taken, strict=True))
    counted = f"appends a second by {CALLERS} callers, and by {CALLERS * TIMES} who come again when told"
    return [
        Target("overload_p99_vs_normal", ratio),
        Figure("p50 of what is let in, and at ten times the callers", _both(normal, taken, "p50_ms", " ms")),
        Figure("p99 of what is let in, and at ten times the callers", _both(normal, taken, "p99_ms", " ms")),
        Figure(counted, _both(normal, taken, "rate", "")),
        Figure(
            "turned away for each that was let in, and at ten times the callers",
            ", ".join(f"{_turned_away(each):.2f}" for each in (normal, taken)),
        ),
    ]


async def _by_turns(server: ServerProcess, rounds: int, seconds: float) -> tuple[list[NativeLoad], list[NativeLoad]]:
    token = server.token(tenant="bench", user="bench", role="engine")
    async with direct(server.target, token) as calling:
        names = [await calling.create(f"overload-{number}") for number in range(SESSIONS)]
    normal: list[NativeLoad] = []
    taken: list[NativeLoad] = []
    appends = [AppendRequest(session_id=name, messages=[message()]) for name in names]
    async with prepared(server.target, token, "SessionService/Append", appends) as calls:
        for _ in range(rounds):
            normal.append(await _run(calls, CALLERS, seconds))
            taken.append(await _run(calls, CALLERS * TIMES, seconds))
            # Those who were told to come again count as load until then.
            await asyncio.sleep(COME_AGAIN_SECONDS_MAX)
    return normal, taken


async def _run(calls: Calls, callers: int, seconds: float) -> NativeLoad:
    return await calls.run(in_flight=callers, seconds=seconds, settle=SETTLED_SECONDS, connections=_CONNECTIONS)


def _both(normal: list[NativeLoad], taken: list[NativeLoad], name: str, unit: str) -> str:
    few, crowd = (median(getattr(one, name) for one in each) for each in (normal, taken))
    return f"{few:,.0f}, {crowd:,.0f}{unit}"


def _turned_away(each: list[NativeLoad]) -> float:
    return sum(one.turned_away for one in each) / sum(one.calls for one in each)
