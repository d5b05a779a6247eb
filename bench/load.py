"""A closed loop: so many calls in flight, each followed by the next, until all are made."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from statistics import median

Call = Callable[[int], Awaitable[object]]
"""Makes the call with this number."""

_BACK_OFF_SECONDS, _BACK_OFF_SECONDS_MAX = 0.002, 1.0


@dataclass(frozen=True, slots=True)
class Load:
    """What a run of calls took."""

    calls: int
    seconds: float
    latencies: tuple[float, ...]
    """Of each call, in seconds, in the order in which they ended."""

    @property
    def rate(self) -> float:
        """Calls a second."""
        return self.calls / self.seconds

    @property
    def p50_ms(self) -> float:
        """The median call, in milliseconds."""
        return median(self.latencies) * 1000


async def run(call: Call, *, calls: int, in_flight: int, first: int = 0) -> Load:
    """Make the calls `first` … `first + calls - 1`; an error ends the run."""
    numbers = iter(range(first, first + calls))
    latencies: list[float] = []

    async def caller() -> None:
        for number in numbers:
            began = time.perf_counter()
            await call(number)
            latencies.append(time.perf_counter() - began)

    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(in_flight):
            group.create_task(caller())
    return Load(calls=calls, seconds=time.perf_counter() - began, latencies=tuple(latencies))


async def back_off(refusals: int) -> None:
    """Wait a drawn time, the longer the more often one was refused: else all who were come again together."""
    longest = min(_BACK_OFF_SECONDS * 2 ** min(refusals, 10), _BACK_OFF_SECONDS_MAX)
    await asyncio.sleep(random.uniform(0, longest))
