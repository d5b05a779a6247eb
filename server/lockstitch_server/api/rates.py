"""Rates: how many calls a second a tenant and a subject may make of this process."""

import time
from collections.abc import Callable, Hashable
from datetime import timedelta

from lockstitch_server.errors import RateLimited
from lockstitch_server.model import Principal

_IDLE_MAX = 100_000
"""How many full buckets are kept: whoever has not called for long starts with a full one anyhow."""


class _Buckets:
    """A token bucket each key: it holds `burst` calls, and fills by `rate` a second."""

    def __init__(self, whose: str, rate: float, burst: float, now: Callable[[], float]) -> None:
        self._whose = whose
        self._rate = rate
        self._burst = max(burst, 1.0)
        self._now = now
        self._filled: dict[Hashable, tuple[float, float]] = {}
        """What a bucket held, and when."""

    def take(self, key: Hashable) -> None:
        """Take one call; raises RateLimited, with the time until there is one."""
        now = self._now()
        held, at = self._filled.get(key, (self._burst, now))
        held = min(self._burst, held + (now - at) * self._rate)
        if held < 1:
            wait = timedelta(seconds=(1 - held) / self._rate)
            raise RateLimited(
                f"This {self._whose} makes more than {self._rate:g} calls a second.",
                metadata={"limit": f"{self._rate:g}"},
                retry_after=wait,
            )
        if key not in self._filled and len(self._filled) >= _IDLE_MAX:
            del self._filled[next(iter(self._filled))]  # the oldest
        self._filled[key] = (held - 1, now)


class Rates:
    """Bounds the calls of tenants and subjects, counted in this process."""

    def __init__(
        self,
        *,
        tenant_rate: float | None,
        subject_rate: float | None,
        burst: timedelta,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """A rate of None is no bound; a burst is what a rate allows in that time, at once."""
        seconds = burst.total_seconds()
        self._tenants = _Buckets("tenant", tenant_rate, tenant_rate * seconds, now) if tenant_rate else None
        self._subjects = _Buckets("subject", subject_rate, subject_rate * seconds, now) if subject_rate else None

    def take(self, principal: Principal) -> None:
        """Count a call; raises RateLimited where there were too many."""
        if self._subjects is not None:
            self._subjects.take((principal.tenant_id, principal.subject))
        if self._tenants is not None:
            self._tenants.take(principal.tenant_id)
