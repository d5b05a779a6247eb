"""A word to the operator where a server does not end in its time: what it still does."""

import asyncio
import gc
import inspect
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import structlog

LATE = timedelta(seconds=10)
"""After the grace of the calls, the last statements and connections have their seconds: by then they are over."""

_FRAMES_MAX = 16
_FRAMES = ("cr_frame", "gi_frame", "ag_frame")
_AWAITED = ("cr_await", "gi_yieldfrom", "ag_await")
_log = structlog.get_logger(__name__)


class Stopping:
    """The time from being told to stop to having stopped."""

    def __init__(self, grace: timedelta) -> None:
        """`grace` is what running calls are given."""
        self._seconds = (grace + LATE).total_seconds()
        self._alarm: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """It was told to."""
        self._alarm = asyncio.get_running_loop().call_later(self._seconds, self._tell)

    def end(self) -> None:
        """It has stopped."""
        if self._alarm is not None:
            self._alarm.cancel()

    def _tell(self) -> None:
        running = {task.get_name(): " > ".join(_places(task.get_coro())) for task in asyncio.all_tasks()}
        _log.error("this server was told to stop and still runs", seconds=self._seconds, tasks=running)


def _places(waiting: object) -> Iterator[str]:
    """Where a coroutine waits, and those that it waits for, the innermost last."""
    for _ in range(_FRAMES_MAX):
        for frame in _attributes(waiting, _FRAMES):
            yield f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno} {frame.f_code.co_name}"
        # A step of an asynchronous generator, such as a context manager's, does not say whose it is.
        generators = filter(inspect.isasyncgen, gc.get_referents(waiting))
        waiting = next(iter((*_attributes(waiting, _AWAITED), *generators)), None)
        if waiting is None:
            return


def _attributes(of: object, names: tuple[str, ...]) -> list[Any]:
    return [value for name in names if (value := getattr(of, name, None)) is not None]
