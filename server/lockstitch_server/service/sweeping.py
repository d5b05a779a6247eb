"""The sweeper: makes the commits that time alone brings about."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import structlog

from lockstitch_server import tasks
from lockstitch_server.errors import DatabaseUnavailable, LockstitchError
from lockstitch_server.model import SessionKey
from lockstitch_server.store.background import Background

_BATCH = 10
"""How many sessions are asked for from either end of the queue: those behind them wait for a rest of the sweeper."""
_PUT_OFF = timedelta(minutes=1)
_PUT_OFF_FOR_TROUBLE = timedelta(seconds=2)
"""How long a session that could not be swept is left alone, so that others come first."""

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
            await tasks.ended(task)

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
        """See to some of those that are due, then rest; whether there may be more."""
        clock = asyncio.get_running_loop().time
        began = clock()
        due = await self._background.due(_BATCH)
        seen_to = 0
        for tenant_id, key in due:
            seen_to += await self._see_to(tenant_id, key)
        took = clock() - began
        if due:
            # A purge may take its time; what becomes due after it need not.
            await asyncio.sleep(min(took * (1 / self._share - 1), self._interval))
        # Where nothing could be done to any of them, others hold them: there is no hurry.
        return len(due) >= _BATCH and seen_to > 0

    async def _see_to(self, tenant_id: str, key: SessionKey) -> bool:
        """Sweep a session; where that fails, whatever it is, the others shall not wait for it."""
        try:
            return await self._background.sweep(tenant_id, key)
        except DatabaseUnavailable:
            raise
        except LockstitchError as error:
            # The database's trouble, which passes; of what was made all the same, the next look finds nothing to do.
            _log.warning("a session that is due could not be swept", session_key=key.hex, reason=error.reason)
            await self._background.put_off(tenant_id, key, _PUT_OFF_FOR_TROUBLE)
            return False
        except Exception:  # noqa: BLE001 - one session's trouble is not the others'
            _log.exception("a session that is due could not be swept", session_key=key.hex)
            await self._background.put_off(tenant_id, key, _PUT_OFF)
            return False
