"""Admission: how many calls are answered at a time; those beyond are told to come again, before any work is done."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from lockstitch_server.errors import Overloaded

_COME_AGAIN_SECONDS = 0.25


class Admission:
    """Counts calls that are being answered."""

    def __init__(self, calls_max: int | None) -> None:
        """None is no bound."""
        self._calls_max = calls_max
        self._calls = 0

    @contextmanager
    def admitted(self) -> Iterator[None]:
        """Count a call while it is answered; raises Overloaded where there are enough."""
        if self._calls_max is not None and self._calls >= self._calls_max:
            # Not all at the same time.
            seconds = _COME_AGAIN_SECONDS * random.uniform(1, 2)  # noqa: S311 - nothing secret
            sentence = f"This server answers {self._calls_max} calls at a time."
            raise Overloaded(sentence, retry_after=timedelta(seconds=seconds))
        self._calls += 1
        try:
            yield
        finally:
            self._calls -= 1
