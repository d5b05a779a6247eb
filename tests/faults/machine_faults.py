"""A disk that is full, and a clock that is wrong."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

from faults.fault import Play, fault
from faults.small_disk import cannot_mount

_LIBRARIES = sorted(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))
_STEPS = ("+600", "-600", "+0")
_STEP_SECONDS = 1.0


@fault("disk full", hold=(0.5, 5.0), missing=cannot_mount, on_small_disk=True)
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


def _no_faketime() -> str:
    return "" if _LIBRARIES else "libfaketime is not installed"


@fault("clock stepped", hold=(0.0, 2.0), missing=_no_faketime)
async def clock_stepped(play: Play) -> AsyncIterator[None]:
    """One server's, ten minutes ahead, ten behind, and back."""
    server, clock = play.one(), play.stage.folder / "clock"
    clock.write_text("+0\n")
    settings = {
        "LD_PRELOAD": str(_LIBRARIES[0]),
        "FAKETIME_TIMESTAMP_FILE": str(clock),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
    await server.stop()
    try:
        await server.start(**settings)
        for step in _STEPS:
            clock.write_text(f"{step}\n")
            await asyncio.sleep(_STEP_SECONDS)
            await play.traffic.more(5)
        yield
    finally:
        await server.stop()
        await server.start()
