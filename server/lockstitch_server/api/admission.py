"""Admission: how many calls, of how many bytes, are answered at a time; the others are told to come again."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from lockstitch_server.errors import Overloaded

_COME_AGAIN_SECONDS = 0.25


class Admission:
    """Counts calls that are being answered, and the bytes of their requests."""

    def __init__(self, calls_max: int | None, bytes_max: int) -> None:
        """None is no bound."""
        self._calls_max = calls_max
        self._bytes_max = bytes_max
        self._calls = 0
        self._bytes = 0

    @contextmanager
    def admitted(self, request_bytes: int) -> Iterator[None]:
        """Count a call while it is answered; raises Overloaded where there are enough. One alone is always let in."""
        if self._calls_max is not None and self._calls >= self._calls_max:
            raise _overloaded(f"This server answers {self._calls_max} calls at a time.")
        if self._calls and self._bytes + request_bytes > self._bytes_max:
            raise _overloaded(f"This server holds {self._bytes_max} bytes of requests at a time.")
        self._calls += 1
        self._bytes += request_bytes
        try:
            yield
        finally:
            self._calls -= 1
            self._bytes -= request_bytes


def _overloaded(sentence: str) -> Overloaded:
    # Not all at the same time.
    seconds = _COME_AGAIN_SECONDS * random.uniform(1, 2)  # noqa: S311 - nothing secret
    return Overloaded(sentence, retry_after=timedelta(seconds=seconds))
