"""Admission: how many calls, of how many bytes, are answered at a time; the others are told to come again."""

import random
from collections.abc import Callable
from datetime import timedelta
from heapq import heappop, heappush
from math import ceil
from time import monotonic

from lockstitch_server.api.backlog import Backlog
from lockstitch_server.errors import Overloaded

_SPAN_SECONDS = 0.5
"""How often the wait that callers are told is thought over."""

_TURNED_AWAY_EACH = 0.25
"""How many should be turned away for each that is let in: each costs, too, and fewer would leave places empty."""

_LONGER, _SHORTER = 2.0, 0.9
"""How much the wait changes at a time: it becomes shorter slowly, or those who are away would come back as a wave."""

_WAIT_SECONDS_MIN = 0.25
_WAIT_SECONDS_MAX = 4.0

_STANDING = 1.5
"""A queue is what is longer by half than what keeps the process busy; who is as many as that is no load."""

_SHRUNK = 0.75
"""A queue that shrank to so much of what it was is a burst that is being worked off."""


def queue_of(calls_under_load: int) -> int:
    """From how many calls on there is a queue, where so many keep the process busy."""
    return ceil(calls_under_load * _STANDING)


class Admission:
    """Counts calls that are being answered, the backlog of those that wait to be, and the bytes of their requests.

    A burst is let in and worked off. A queue that stands is not: where half as many again as `calls_under_load` were
    here for `queue_max` and did not become fewer, no more than these are let in, which keeps the machine busy, until
    those who are here and those who were told to come again would be no queue. To judge a queue by how long it stands,
    not by how long it is, is CoDel's rule (Nichols and Jacobson, ACM Queue 10/5, 2012). The more come in vain, the
    later they are told to come again.
    """

    def __init__(
        self,
        backlog: Backlog,
        *,
        calls_max: int,
        calls_under_load: int,
        queue_max: timedelta,
        bytes_max: int,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """`calls_max` is for bursts; `clock` gives seconds."""
        self._backlog = backlog
        self._calls_max = calls_max
        self._calls_under_load = min(calls_under_load, calls_max)
        self._queue = queue_of(self._calls_under_load)
        self._queue_max = queue_max.total_seconds()
        self._bytes_max = bytes_max
        self._clock = clock
        self._calls = 0
        self._bytes = 0
        self._stands_since: float | None = None
        self._stands_at = 0
        self._is_under_load = False
        self._wait = _Wait()

    def admitted(self, request_bytes: int) -> "_Place":
        """Count a call while it is answered; raises Overloaded where there are enough. One alone is always let in."""
        return _Place(self, request_bytes)

    def _let_in(self, request_bytes: int) -> None:
        if self._calls + self._backlog.calls >= self._calls_under_load:
            self._check_calls()
        else:
            self._stands_since = None
        if self._calls and self._bytes + request_bytes > self._bytes_max:
            raise self._overloaded(f"This server holds {self._bytes_max} bytes of requests at a time.")
        self._wait.let_in += 1
        self._calls += 1
        self._bytes += request_bytes

    def _let_out(self, request_bytes: int) -> None:
        self._calls -= 1
        self._bytes -= request_bytes

    def _check_calls(self) -> None:
        if self._calls >= self._calls_max:
            raise self._overloaded(f"This server answers {self._calls_max} calls at a time.")
        now = self._clock()
        here = self._calls + self._backlog.calls
        if self._is_under_load:
            self._is_under_load = self._is_queue(here + self._wait.away(now))
        else:
            self._is_under_load = self._has_stood(here, now)
        if self._is_under_load and self._calls:
            self._backlog.turned_away()
            raise self._overloaded(f"This server holds {self._calls_under_load} calls at a time under load.")

    def _is_queue(self, calls: int) -> bool:
        return calls >= self._queue

    def _has_stood(self, here: int, now: float) -> bool:
        if not self._is_queue(here):
            self._stands_since = None
            return False
        line_since = self._backlog.stands_since
        if line_since is not None and now - line_since > self._queue_max:
            return True
        if not self._is_queue(self._calls):
            self._stands_since = None
            return False
        if self._stands_since is None or self._calls <= self._stands_at * _SHRUNK:
            self._stands_since, self._stands_at = now, self._calls
        self._stands_at = max(self._stands_at, self._calls)
        return now - self._stands_since > self._queue_max

    def _overloaded(self, sentence: str) -> Overloaded:
        times = (self._calls + self._backlog.calls) / self._calls_under_load
        return Overloaded(sentence, retry_after=self._wait.turn_away(self._clock(), times))


class _Place:
    """The place of a call that is answered."""

    __slots__ = ("_admission", "_request_bytes")

    def __init__(self, admission: Admission, request_bytes: int) -> None:
        self._admission = admission
        self._request_bytes = request_bytes

    def __enter__(self) -> None:
        self._admission._let_in(self._request_bytes)  # noqa: SLF001 - a part of it

    def __exit__(self, *_: object) -> None:
        self._admission._let_out(self._request_bytes)  # noqa: SLF001


class _Wait:
    """How long those who are turned away are told to wait."""

    def __init__(self) -> None:
        self.let_in = 0
        self._turned_away = 0
        self._seconds = _WAIT_SECONDS_MIN
        self._ends = 0.0
        self._comes_again: list[float] = []

    def turn_away(self, now: float, times: float) -> timedelta:
        """Count a caller, and say when to come again; `times` as many are here as may be."""
        self.away(now)
        longer = 1.0
        if now > self._ends:
            each = self._turned_away / max(self.let_in, 1)
            longer = min(max(each / _TURNED_AWAY_EACH, _SHORTER), _LONGER)
            self.let_in = self._turned_away = 0
            self._ends = now + _SPAN_SECONDS
        # A crowd is told at once to take its time, before it has come in vain again and again.
        seconds = max(self._seconds * longer, _WAIT_SECONDS_MIN * max(times, 1.0))
        self._seconds = min(seconds, _WAIT_SECONDS_MAX / 2)
        self._turned_away += 1
        # Not all at the same time.
        wait = self._seconds * random.uniform(0.5, 2)  # noqa: S311 - nothing secret
        heappush(self._comes_again, now + wait)
        return timedelta(seconds=wait)

    def away(self, now: float) -> int:
        """How many were told to come again and have not had the time."""
        while self._comes_again and self._comes_again[0] <= now:
            heappop(self._comes_again)
        return len(self._comes_again)
