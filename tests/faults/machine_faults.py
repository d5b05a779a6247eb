"""A disk that is full, and clocks that are wrong."""

import asyncio
from collections.abc import AsyncIterator

from faults.fault import Play, fault
from faults.small_disk import cannot_mount
from faults.wrong_clock import WrongClock, no_wrong_clock, no_wrong_clock_of_postgres

_STEPS = (600, -600, 0)
_STEP_SECONDS = 1.0


@fault("disk full", hold=(0.5, 5.0), missing=cannot_mount, needs="small disk")
async def disk_full(play: Play) -> AsyncIterator[None]:
    """Postgres can write neither data nor log, and stops; with room again, it recovers."""
    disk = play.stage.disk
    assert disk is not None
    try:
        await asyncio.to_thread(disk.fill)
        yield
    finally:
        disk.empty()
        await play.stage.database_answers()


@fault("clock stepped", hold=(0.0, 2.0), missing=no_wrong_clock)
async def clock_stepped(play: Play) -> AsyncIterator[None]:
    """One server's, ten minutes ahead, ten behind, and back."""
    server, clock = play.one(), WrongClock(play.stage.folder / "server-clock")
    await server.stop()
    try:
        await server.start(**clock.environment)
        await _step(clock, play)
        yield
    finally:
        await server.stop()
        await server.start()


@fault("database's clock stepped", hold=(0.0, 2.0), missing=no_wrong_clock_of_postgres, needs="clock of its own")
async def clock_of_database_stepped(play: Play) -> AsyncIterator[None]:
    """By which all leases, lives and times go."""
    clock = play.stage.clock
    assert clock is not None
    try:
        await _step(clock, play)
        yield
    finally:
        clock.step(0)


async def _step(clock: WrongClock, play: Play) -> None:
    for seconds in _STEPS:
        clock.step(seconds)
        await asyncio.sleep(_STEP_SECONDS)
        await play.traffic.more(5)
