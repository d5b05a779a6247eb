"""Admission: how many calls, of how many bytes, are answered at a time; the others are told to come again."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from time import monotonic

from lockstitch_server.errors import Overloaded

_COME_AGAIN_SECONDS = 0.25


class Admission:
    """Counts calls that are being answered, and the bytes of their requests.

    A burst is let in and worked off. A queue that stands is not: from when it has stood for `queue_max`, only
    `calls_under_load` are answered at a time, which keeps the machine busy, until it has been half empty. To judge a
    queue by how long it stands, not by how long it is, is CoDel's rule (Nichols and Jacobson, ACM Queue 10/5, 2012).
    """

    def __init__(
        self,
        *,
        calls_max: int,
        calls_under_load: int,
        queue_max: timedelta,
        bytes_max: int,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """`calls_max` is for bursts; `clock` gives seconds."""
        self._calls_max = calls_max
        self._calls_under_load = min(calls_under_load, calls_max)
        self._queue_max = queue_max.total_seconds()
        self._bytes_max = bytes_max
        self._clock = clock
        self._calls = 0
        self._bytes = 0
        self._stands_since: float | None = None

    @contextmanager
    def admitted(self, request_bytes: int) -> Iterator[None]:
        """Count a call while it is answered; raises Overloaded where there are enough. One alone is always let in."""
        if self._calls >= self._calls_under_load:
            self._check_calls()
        if self._calls and self._bytes + request_bytes > self._bytes_max:
            raise _overloaded(f"This server holds {self._bytes_max} bytes of requests at a time.")
        self._calls += 1
        self._bytes += request_bytes
        try:
            yield
        finally:
            self._calls -= 1
            self._bytes -= request_bytes
            if self._calls <= self._calls_under_load // 2:
                self._stands_since = None

    def _check_calls(self) -> None:
        if self._calls >= self._calls_max:
            raise _overloaded(f"This server answers {self._calls_max} calls at a time.")
        now = self._clock()
        if self._stands_since is None:
            self._stands_since = now
        elif now - self._stands_since > self._queue_max:
            raise _overloaded(f"This server has more calls than it can answer: {self._calls_under_load} at a time.")


def _overloaded(sentence: str) -> Overloaded:
    # Not all at the same time.
    seconds = _COME_AGAIN_SECONDS * random.uniform(1, 2)  # noqa: S311 - nothing secret
    return Overloaded(sentence, retry_after=timedelta(seconds=seconds))
