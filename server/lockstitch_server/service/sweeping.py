"""The sweeper: makes the commits that time alone brings about."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import structlog

from lockstitch_server.errors import LockstitchError
from lockstitch_server.store.background import Background

_BATCH = 20
"""How many sessions are asked for at once: those behind them wait for a rest of the sweeper."""

_log = structlog.get_logger(__name__)


class Sweeper:
    """Looks for sessions that are due, and sees to one after the other.

    Any number of processes may do so: each looks again under the session's lock, and passes by what another holds.
    """

    def __init__(self, background: Background, *, interval: timedelta, share: float) -> None:
        """Looks every `interval`; while there is much to do it works for `share` of the time."""
        self._background = background
        self._interval = interval.total_seconds()
        self._share = share

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Sweep until the context ends."""
        task = asyncio.create_task(self._run(), name="sweeper")
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _run(self) -> None:
        # Processes that were started together look at different times.
        await asyncio.sleep(random.uniform(0, self._interval))  # noqa: S311 - nothing secret
        while True:
            more = False
            try:
                more = await self._sweep()
            except LockstitchError as error:
                _log.warning("sessions that are due could not be swept", reason=error.reason)
            except Exception:  # noqa: BLE001 - the next look may go better, whatever was wrong with this one
                _log.exception("sessions that are due could not be swept")
            if not more:
                await asyncio.sleep(self._interval)

    async def _sweep(self) -> bool:
        """See to those that are due first, then rest; whether there may be more."""
        clock = asyncio.get_running_loop().time
        began = clock()
        due = await self._background.due(_BATCH)
        changed = 0
        for tenant_id, key in due:
            changed += await self._background.sweep(tenant_id, key)
        took = clock() - began
        if due:
            await asyncio.sleep(took * (1 / self._share - 1))
        # Where nothing could be done to any of them, others hold them: there is no hurry.
        return len(due) == _BATCH and changed > 0
