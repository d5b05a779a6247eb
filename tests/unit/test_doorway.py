"""A server that stops waits for callers to stay away, but not for long."""

import asyncio

import pytest

from lockstitch_server.api import doorway
from lockstitch_server.errors import Draining


async def test_it_closes_in_its_time_though_somebody_comes_at_every_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doorway, "_SECONDS_MAX", 0.05)
    monkeypatch.setattr(doorway, "_LOOKS_MAX", 10**6)
    door = doorway.Doorway()
    door.enter()

    async def come_on() -> None:
        while True:
            try:
                door.enter()
            except Draining:
                await asyncio.sleep(0)

    closing = asyncio.create_task(door.close())
    await asyncio.sleep(0)  # it is closed from its first step on
    coming = asyncio.create_task(come_on())
    async with asyncio.timeout(20):
        await closing
    coming.cancel()
    with pytest.raises(Draining):
        door.enter()
