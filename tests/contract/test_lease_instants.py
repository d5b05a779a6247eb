"""CONTRACT 10: a run that ends because its lease is over ends no earlier than that."""

import asyncio
from typing import Any

import asyncpg
import pytest

from lockstitch_server import ids
from support.databases import Database
from support.rpc import Create, Rpc
from support.running import EXPIRED, run_of, started
from support.waiting import until_true

_WAITING = (
    "select count(*) > 0 as is_so from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
)


@pytest.mark.parametrize("ends", ["CloseSession", "StartRun"])
async def test_a_run_whose_lease_runs_out_while_its_end_waits_for_a_renewal_ends_behind_its_lease(
    engine: Rpc, create: Create, tenant: str, shared_database: Database, ends: str
) -> None:
    session_id = await create()
    run = await started(engine, session_id)
    key = ids.session_key(tenant, session_id)
    renewing: Any = await asyncpg.connect(shared_database.superuser_url)
    try:
        renewal = renewing.transaction()
        await renewal.start()
        await renewing.execute("select from lockstitch.run_leases where session_key = $1 for update", key)
        ending = asyncio.ensure_future(getattr(engine, ends)(session_id=session_id))

        async def is_waited_for() -> bool:
            (row,) = await shared_database.as_superuser(_WAITING)
            return bool(row["is_so"])

        await until_true(is_waited_for, "an end that waits for the lease")
        lapsed_at = await renewing.fetchval(
            "update lockstitch.run_leases set lease_expire_time = clock_timestamp() where session_key = $1"
            " returning lease_expire_time",
            key,
        )
        await renewal.commit()
        await ending
    finally:
        await renewing.close()
    ended = await run_of(engine, session_id, run.run_id)
    assert ended.status == EXPIRED
    assert ended.end_time.ToDatetime(lapsed_at.tzinfo) >= lapsed_at
