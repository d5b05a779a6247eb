"""What time would bring about, made to happen at once behind the servers' back; and what drafts have stored."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any
from uuid import UUID

from support.databases import Database

_OF = "where tenant_id = $1 and session_id = $2"
_KEY = f"(select session_key from lockstitch.sessions {_OF})"
LIFE_ENDS = f"""
    with ended as (update lockstitch.sessions set expire_time = now() - interval '1 hour' {_OF} returning session_key)
    update lockstitch.session_details d set expire_time = now() - interval '1 hour'
    from ended
    where d.session_key = ended.session_key
"""
UNUSED = f"""
    update lockstitch.sessions set
        last_activity_time = date_trunc('second', now() - idle_ttl - interval '1 hour'),
        activity_minute = lockstitch.minute_v1(date_trunc('second', now() - idle_ttl - interval '1 hour'))
    {_OF} returning last_activity_time
"""
LEASE_ENDS = f"""
    update lockstitch.run_leases set lease_expire_time = now() - interval '1 minute'
    where tenant_id = $1 and session_key = {_KEY}
    returning lease_expire_time
"""
PURGE_TIME_COMES = f"update lockstitch.sessions set purge_time = now() - interval '1 hour' {_OF}"
DRAFT = f"""
    select d.step_time,
        (
            select coalesce(sum(octet_length(t.text)), 0)
            from lockstitch.draft_steps t
            where t.tenant_id = $1 and t.session_key = d.session_key and t.request_hash = d.request_hash
        ) as stored
    from lockstitch.drafts d
    where d.tenant_id = $1 and d.session_key = {_KEY} and d.request_hash = $3
"""
SWEEP = f"select * from lockstitch.sweep_session_v1($1, {_KEY}, $3, $4)"


class Behind:
    """Reaches into the database as nobody else may."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._loop = asyncio.new_event_loop()

    def _run(self, sql: str, *arguments: object) -> Sequence[Any]:
        return self._loop.run_until_complete(self._database.as_superuser(sql, *arguments))

    def close(self) -> None:
        self._loop.close()

    def end_life(self, tenant: str, session_id: str) -> None:
        self._run(LIFE_ENDS, tenant, session_id)

    def leave_unused(self, tenant: str, session_id: str) -> datetime:
        """Let an idle_ttl run out; gives when the session was used last."""
        moved: datetime = self._run(UNUSED, tenant, session_id)[0][0]
        return moved

    def end_lease(self, tenant: str, session_id: str) -> datetime:
        moved: datetime = self._run(LEASE_ENDS, tenant, session_id)[0][0]
        return moved

    def reach_purge_time(self, tenant: str, session_id: str) -> None:
        self._run(PURGE_TIME_COMES, tenant, session_id)

    def draft(self, tenant: str, session_id: str, request_id: str) -> tuple[datetime, int] | None:
        """When a draft was opened last, and how many bytes of it are stored; None where there is none."""
        hashed = UUID(bytes=sha256(request_id.encode()).digest()[:16])
        return next((tuple(row) for row in self._run(DRAFT, tenant, session_id, hashed)), None)

    def sweep(self, tenant: str, session_id: str, *, run_grace: timedelta, draft_idle: timedelta) -> None:
        """Do what the sweeper does to a session that is due."""
        self._run(SWEEP, tenant, session_id, run_grace, draft_idle)
