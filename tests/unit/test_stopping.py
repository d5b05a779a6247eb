"""Who operates a server that does not end is told what it still does."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from lockstitch_server import stopping
from support.waiting import until


@asynccontextmanager
async def _never_left(begun: asyncio.Event) -> AsyncIterator[None]:
    yield
    begun.set()
    await asyncio.Event().wait()


async def _leaves(begun: asyncio.Event) -> None:
    async with _never_left(begun):
        pass


async def test_what_still_runs_is_told_with_the_places_where_it_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stopping, "LATE", timedelta(0))
    begun = asyncio.Event()
    task = asyncio.create_task(_leaves(begun), name="kept")
    await begun.wait()
    with capture_logs() as events:
        stopping.Stopping(timedelta(0)).begin()
        await until(lambda: bool(events), "the word to the operator")
    task.cancel()
    (event,) = events
    assert event["log_level"] == "error"
    places = [place.split(" ")[-1] for place in event["tasks"]["kept"].split(" > ")]
    assert places == ["_leaves", "__aexit__", "_never_left", "wait"]


async def test_a_server_that_has_stopped_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stopping, "LATE", timedelta(0))
    stopped = stopping.Stopping(timedelta(milliseconds=1))
    over = asyncio.Event()
    with capture_logs() as events:
        stopped.begin()
        stopped.end()
        asyncio.get_running_loop().call_later(0.05, over.set)
        await over.wait()
    assert not events


async def test_a_server_that_was_never_told_to_stop_may_end() -> None:
    stopping.Stopping(timedelta(0)).end()
