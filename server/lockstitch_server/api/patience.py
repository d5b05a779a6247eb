"""A bound on each of many short waits of one task, for less than a timer each."""

import asyncio
from types import TracebackType
from typing import Self


class Patience:
    """Leaves its block where one wait takes too long, and says so in `is_over`.

    `begins` and `ends` around each wait cost little: there is one timer, which looks how long the present wait has been
    and is set again for what is left. asyncio.timeout around each would be a sixth of what a delivery costs.
    """

    __slots__ = ("_began", "_loop", "_seconds", "_task", "_timer", "is_over")

    def __init__(self, seconds: float) -> None:
        """Belongs to the running task, which enters it."""
        self._seconds = seconds
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        self._began: float | None = None
        self.is_over = False
        self._timer = self._loop.call_later(seconds, self._look)

    def begins(self) -> None:
        """A wait begins."""
        self._began = self._loop.time()

    def ends(self) -> None:
        """It has come to its end."""
        self._began = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> bool:
        self._timer.cancel()
        # As in asyncio.timeout: where somebody else cancelled the task too, it stays cancelled.
        is_ours = self.is_over and self._task is not None and self._task.uncancel() <= 0
        return is_ours and kind is asyncio.CancelledError

    def _look(self) -> None:
        waited = 0.0 if self._began is None else self._loop.time() - self._began
        if waited < self._seconds:
            self._timer = self._loop.call_later(self._seconds - waited, self._look)
        elif self._task is not None:
            self.is_over = True
            self._task.cancel()
