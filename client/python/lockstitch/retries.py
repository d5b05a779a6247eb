"""When a failed attempt is worth another one, and after how long: one layer, within the call's own time."""

from collections.abc import Iterator
from datetime import timedelta
from itertools import count
from random import SystemRandom

import grpc

from lockstitch.errors import LockstitchError
from lockstitch.service_config import (
    BACKOFF_MULTIPLIER,
    INITIAL_BACKOFF_SECONDS,
    MAX_BACKOFF_SECONDS,
    RETRY_TOKENS_MAX,
    TOKEN_RATIO,
)

RESUME_SECONDS_MAX = 5.0
"""The most long wait before a subscription is resumed: there may be thousands, and all lost their server at once."""

_JITTER = 0.2
_RESUME_JITTER = 0.8
_NONE = timedelta()
_CUT = {grpc.StatusCode.CANCELLED, grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN}
_random = SystemRandom()


class RetryBudget:
    """The tokens of a client's retries, as gRPC's retry throttling counts them.

    Shared by all calls of a client. Two threads may now and then lose a fraction of a token to each other, which
    changes nothing that matters, and costs no lock on every call.
    """

    def __init__(self) -> None:
        self._tokens = float(RETRY_TOKENS_MAX)

    def succeeded(self) -> None:
        """An attempt was answered, if only with another error than UNAVAILABLE."""
        if self._tokens < RETRY_TOKENS_MAX:
            self._tokens = min(self._tokens + TOKEN_RATIO, RETRY_TOKENS_MAX)

    def failed(self) -> bool:
        """An attempt was not answered. True where the budget still allows another one."""
        self._tokens = max(self._tokens - 1, 0.0)
        return self._tokens > RETRY_TOKENS_MAX / 2


def is_retryable(code: grpc.StatusCode) -> bool:
    """Whether a failure of this code may be retried. COMMIT_OUTCOME_UNKNOWN is UNAVAILABLE too: the same id tells."""
    return code is grpc.StatusCode.UNAVAILABLE


def is_cut(error: LockstitchError) -> bool:
    """Whether a stream failed as a cut connection can make it, beside UNAVAILABLE: no server of ours gave a reason."""
    return not error.reason and error.code in _CUT


def waits() -> Iterator[float]:
    """The waits before each further attempt, in seconds, each give or take a fifth so that callers spread out."""
    return _growing(MAX_BACKOFF_SECONDS, _JITTER)


def resume_waits() -> Iterator[float]:
    """The waits before each further attempt to resume a subscription, in seconds, spread wide."""
    return _growing(RESUME_SECONDS_MAX, _RESUME_JITTER)


def _growing(seconds_max: float, jitter: float) -> Iterator[float]:
    for attempt in count():
        # The exponent is bounded because a float is: the wait reached its most long before.
        wait = min(INITIAL_BACKOFF_SECONDS * BACKOFF_MULTIPLIER ** min(attempt, 32), seconds_max)
        yield wait * _random.uniform(1 - jitter, 1 + jitter)


def wait_seconds(backoff: float, *, pushback: timedelta | None, retry_after: timedelta | None) -> float | None:
    """The wait before the next attempt in seconds, or None for no further attempt.

    The server has the last word: a pushback replaces the backoff (a negative one forbids), RetryInfo is the least.
    """
    if pushback is not None and pushback < _NONE:
        return None
    wait = backoff if pushback is None else pushback.total_seconds()
    return max(wait, (retry_after or _NONE).total_seconds())
