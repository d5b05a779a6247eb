"""Quotas: how many sessions a tenant and a user may have, by counts that are gathered beside the calls."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import overload

import structlog

from lockstitch_server import tasks
from lockstitch_server.errors import LockstitchError
from lockstitch_server.model import Change, NewFork, NewSession
from lockstitch_server.store.background import Background

_FORGET_SECONDS = 600.0
_log = structlog.get_logger(__name__)

Owner = tuple[str, str | None]
"""(tenant_id, user_id) of a user; None for a tenant's users together."""


@dataclass(slots=True)
class _Count:
    asked_at: float
    counted_at: float | None = None
    is_reached: bool = False


class Quotas:
    """Says whether a session more would be one too many.

    Nothing is counted by a call, and no row is written by every creation: whoever creates sessions is counted from time
    to time, the first time at once. Until then, and between two counts, a quota may be passed by what is created.
    """

    def __init__(
        self,
        background: Background,
        *,
        tenant_max: int | None,
        user_max: int | None,
        interval: timedelta,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """A quota of None is no bound; whoever creates sessions is counted every `interval`."""
        self._background = background
        self._tenant_max = tenant_max
        self._user_max = user_max
        self._seconds = interval.total_seconds()
        self._now = now
        self._counts: dict[Owner, _Count] = {}
        self._some = asyncio.Event()

    def is_reached(self, tenant_id: str, user_id: str) -> bool:
        """Whether the tenant, or the user, had as many sessions as it may when it was counted last."""
        reached = False
        if self._tenant_max is not None:
            reached = self._look((tenant_id, None))
        if self._user_max is not None and user_id:
            reached = self._look((tenant_id, user_id)) or reached
        return reached

    @overload
    def applied(self, change: Change, new: NewSession) -> NewSession: ...
    @overload
    def applied(self, change: Change, new: NewFork) -> NewFork: ...
    @overload
    def applied(self, change: Change, new: NewSession | None) -> NewSession | None: ...
    def applied(self, change: Change, new: NewSession | NewFork | None) -> NewSession | NewFork | None:
        """A session that is to be, with whether there may be one more; whose a fork becomes is not known before."""
        if new is None or (self._tenant_max is None and self._user_max is None):
            return new
        user_id = new.user_id if isinstance(new, NewSession) else ""
        return replace(new, is_over_quota=self.is_reached(change.session.tenant_id, user_id))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Count until the context ends."""
        task = asyncio.create_task(self._run(), name="quotas")
        try:
            yield
        finally:
            await tasks.ended(task)

    def _look(self, owner: Owner) -> bool:
        count = self._counts.get(owner)
        if count is None:
            count = self._counts[owner] = _Count(asked_at=self._now())
            self._some.set()
        count.asked_at = self._now()
        return count.is_reached

    async def _run(self) -> None:
        while True:
            await self._wait()
            try:
                await self._count()
            except LockstitchError as error:
                _log.warning("sessions could not be counted", reason=error.reason)
            except Exception:  # noqa: BLE001 - the next count may go better, whatever was wrong with this one
                _log.exception("sessions could not be counted")

    async def _wait(self) -> None:
        try:
            async with asyncio.timeout(self._seconds / 2):
                await self._some.wait()
        except TimeoutError:
            return
        self._some.clear()

    async def _count(self) -> None:
        now = self._now()
        for owner, count in list(self._counts.items()):
            if now - count.asked_at > _FORGET_SECONDS:
                del self._counts[owner]
            elif count.counted_at is None or now - count.counted_at >= self._seconds:
                tenant_id, user_id = owner
                most = self._tenant_max if user_id is None else self._user_max
                if most is not None:
                    count.is_reached = await self._background.count_sessions(tenant_id, user_id, most) >= most
                    count.counted_at = now
