"""Admission: how many calls, of how many bytes, are answered at a time; the others are told to come again."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from time import monotonic

from lockstitch_server.api.backlog import Backlog
from lockstitch_server.errors import Overloaded

_SPAN_SECONDS = 0.5
"""How often the wait that callers are told is thought over."""

_TURNED_AWAY_EACH = 0.25
"""How many should be turned away for each that is let in: each costs, too, and fewer would leave places empty."""

_WAIT_SECONDS_MIN = 0.25
_WAIT_SECONDS_MAX = 4.0

_LEAST_SHARE = 4
"""A quarter of `calls_under_load` is answered however long the backlog is: the machine works while it shrinks."""

_SHRUNK = 0.75
"""A queue that shrank to so much of what it was is a burst that is being worked off."""

_CALM_SECONDS = 1.5 * _WAIT_SECONDS_MAX
"""Load is over when nobody was turned away for so long: those who are away have come again by then."""


class Admission:
    """Counts calls that are being answered, the backlog of those that wait to be, and the bytes of their requests.

    A burst is let in and worked off. A queue that stands is not: where it did not shrink for `queue_max`, no more than
    `calls_under_load` are here at a time, which keeps the machine busy, until nobody was turned away for a while.
    To judge a queue by how long it stands, not by how long it is, is CoDel's rule (Nichols and Jacobson, ACM Queue
    10/5, 2012). The more come in vain, the later they are told to come again.
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
        self._queue_max = queue_max.total_seconds()
        self._bytes_max = bytes_max
        self._clock = clock
        self._calls = 0
        self._bytes = 0
        self._stands_since: float | None = None
        self._stands_at = 0
        self._under_load_until = 0.0
        self._wait = _Wait()

    @contextmanager
    def admitted(self, request_bytes: int) -> Iterator[None]:
        """Count a call while it is answered; raises Overloaded where there are enough. One alone is always let in."""
        here = self._calls + self._backlog.calls
        if here >= self._calls_under_load:
            self._check_calls(here)
        if self._calls and self._bytes + request_bytes > self._bytes_max:
            raise self._overloaded(f"This server holds {self._bytes_max} bytes of requests at a time.")
        self._wait.let_in += 1
        self._calls += 1
        self._bytes += request_bytes
        try:
            yield
        finally:
            self._calls -= 1
            self._bytes -= request_bytes
            if self._calls + self._backlog.calls <= self._calls_under_load // 2:
                self._stands_since = None

    def _check_calls(self, here: int) -> None:
        if self._calls >= self._calls_max:
            raise self._overloaded(f"This server answers {self._calls_max} calls at a time.")
        now = self._clock()
        is_under_load = now < self._under_load_until or self._has_stood(here, now)
        if is_under_load and self._calls * _LEAST_SHARE >= self._calls_under_load:
            self._under_load_until = now + _CALM_SECONDS
            raise self._overloaded(f"This server holds {self._calls_under_load} calls at a time under load.")

    def _has_stood(self, here: int, now: float) -> bool:
        if self._stands_since is None or here <= self._stands_at * _SHRUNK:
            self._stands_since, self._stands_at = now, here
        return now - self._stands_since > self._queue_max

    def _overloaded(self, sentence: str) -> Overloaded:
        return Overloaded(sentence, retry_after=self._wait.turn_away(self._clock()))


class _Wait:
    """How long those who are turned away are told to wait."""

    def __init__(self) -> None:
        self.let_in = 0
        self._turned_away = 0
        self._seconds = _WAIT_SECONDS_MIN
        self._ends = 0.0

    def turn_away(self, now: float) -> timedelta:
        """Count a caller, and say when to come again."""
        if now > self._ends:
            each = self._turned_away / max(self.let_in, 1)
            longer = min(max(each / _TURNED_AWAY_EACH, 0.5), 2.0)
            self._seconds = min(max(self._seconds * longer, _WAIT_SECONDS_MIN), _WAIT_SECONDS_MAX / 2)
            self.let_in = self._turned_away = 0
            self._ends = now + _SPAN_SECONDS
        self._turned_away += 1
        # Not all at the same time.
        return timedelta(seconds=self._seconds * random.uniform(1, 2))  # noqa: S311 - nothing secret
