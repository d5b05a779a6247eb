"""The statements of the background role: what is due, and what is to be gone for good."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from lockstitch_server.model import Commit, SessionKey, SessionRef
from lockstitch_server.store.changing import Statements


@dataclass(frozen=True, slots=True)
class PurgeReport:
    """What became of a purge. `outcome` is the word that the SQL function gave."""

    outcome: str
    purge_time: datetime | None
    active_run_id: str
    lease_expire_time: datetime | None


class Background:
    """Sweeps and purges sessions, one a statement."""

    def __init__(
        self,
        statements: Statements,
        *,
        run_grace: timedelta,
        draft_idle: timedelta,
        committed: Callable[[SessionKey, Callable[[], Commit | None]], None],
    ) -> None:
        """`committed` is told of each session that was changed."""
        self._statements = statements
        self._run_grace = run_grace
        self._draft_idle = draft_idle
        self._committed = committed

    async def due(self, limit: int) -> list[tuple[str, SessionKey]]:
        """Give (tenant, key) of sessions that are due: up to `limit` of the longest overdue and of the shortest."""
        found = await self._statements.fetch("sessions_to_sweep", limit)
        return [(row["tenant_id"], row["session_key"]) for row in found]

    async def sweep(self, tenant_id: str, key: SessionKey) -> bool:
        """Do to a session what time has brought about; whether that was anything."""
        row = await self._statements.one("sweep_session", tenant_id, key, self._run_grace, self._draft_idle)
        changed: bool = row["r_changed"]
        if changed:
            self._committed(key, lambda: None)
        return changed

    async def put_off(self, tenant_id: str, key: SessionKey, delay: timedelta) -> None:
        """Have a session looked at later."""
        await self._statements.fetch("put_off_sweep", tenant_id, key, delay)

    async def purge(self, ref: SessionRef, request_id_hash: UUID, *, force: bool) -> PurgeReport:
        """Delete all content of a session."""
        row = await self._statements.one(
            "purge_session", ref.tenant_id, ref.key, ref.session_id, request_id_hash, force
        )
        if row["r_outcome"] == "purged":
            self._committed(ref.key, lambda: None)
        return PurgeReport(
            outcome=row["r_outcome"],
            purge_time=row["r_purge_time"],
            active_run_id=row["r_run_id"] or "",
            lease_expire_time=row["r_lease_expire_time"],
        )

    async def sessions_of(self, tenant_id: str, user_id: str, limit: int) -> list[tuple[str, SessionKey]]:
        """Give (id, key) of some sessions of a user."""
        found = await self._statements.fetch("sessions_of_user", tenant_id, user_id, limit)
        return [(row["session_id"], row["session_key"]) for row in found]

    async def count_sessions(self, tenant_id: str, user_id: str | None, most: int) -> int:
        """Say how many sessions a user has, or all of a tenant; `most` where there are more."""
        row = await self._statements.one("count_sessions", tenant_id, user_id, most)
        count: int = row["sessions"]
        return count

    async def count_sessions_of(self, tenant_id: str, user_id: str) -> int:
        """Say how many sessions a user has."""
        row = await self._statements.one("count_sessions_of_user", tenant_id, user_id)
        count: int = row["sessions"]
        return count
