"""Background tasks end when they are told to, whatever a library makes of it."""

import asyncio

import pytest

from lockstitch_server import tasks
from support.waiting import until


async def test_a_task_that_loses_its_cancellation_is_cancelled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "_AGAIN_SECONDS", 0.01)
    heard: list[str] = []

    async def loses_one() -> None:
        for word in ("begun", "lost"):
            heard.append(word)
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                if word == "lost":
                    raise

    losing = asyncio.create_task(loses_one())
    await until(lambda: bool(heard), "its begin")
    async with asyncio.timeout(10):
        await tasks.ended(losing)
    assert heard == ["begun", "lost"]
    assert losing.cancelled()


async def test_what_a_task_failed_with_is_left(recwarn: pytest.WarningsRecorder) -> None:
    async def fails() -> None:
        raise LookupError

    failing, waiting = asyncio.create_task(fails()), asyncio.create_task(asyncio.Event().wait())
    await until(failing.done, "its failure")
    await tasks.ended(failing, waiting)
    assert waiting.cancelled()
    assert not recwarn.list


async def test_no_tasks_end_at_once() -> None:
    await tasks.ended()
