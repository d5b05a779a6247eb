"""Erasure: sessions whose content goes for good, one by one or all of a user."""

import asyncio
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import structlog

from lockstitch_server.errors import RunActive, SessionNotFound
from lockstitch_server.model import Principal, SessionRef
from lockstitch_server.store.background import Background

_BATCH = 50
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Erased:
    """What one call purged of a user, and what there still is."""

    purged: int
    remaining: int


class Erasure:
    """Purges sessions."""

    def __init__(self, background: Background, *, time_max: timedelta) -> None:
        """An erasure goes on for `time_max`, then says what remains."""
        self._background = background
        self._seconds_max = time_max.total_seconds()

    async def purge(self, ref: SessionRef, request_id_hash: UUID, *, force: bool) -> datetime:
        """Purge a session; gives when it was."""
        report = await self._background.purge(ref, request_id_hash, force=force)
        if report.outcome == "run_active" and report.lease_expire_time is not None:
            raise RunActive(report.active_run_id, report.lease_expire_time)
        if report.outcome != "purged" or report.purge_time is None:
            raise SessionNotFound
        return report.purge_time

    async def erase_user(self, principal: Principal, user_id: str, request_id_hash: UUID) -> Erased:
        """Purge a user's sessions until none is left, or time is up."""
        clock = asyncio.get_running_loop().time
        ends = clock() + self._seconds_max
        purged = 0
        while clock() < ends:
            found = await self._background.sessions_of(principal.tenant_id, user_id, _BATCH)
            if not found:
                break
            for session_id, key in found:
                ref = SessionRef(tenant_id=principal.tenant_id, session_id=session_id, key=key, owner=None)
                report = await self._background.purge(ref, request_id_hash, force=True)
                purged += report.outcome == "purged"
                if clock() >= ends:
                    break
        remaining = await self._background.count_sessions_of(principal.tenant_id, user_id)
        _log.info("sessions of a user were purged", purged=purged, remaining=remaining, request=request_id_hash.hex)
        return Erased(purged=purged, remaining=remaining)
