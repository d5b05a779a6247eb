"""Checkpoints are put, found and listed by index among a hundred thousand, also where planned on next to none."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from itertools import count
from uuid import uuid4

import pytest

from factories import fresh
from lockstitch_server import ids
from lockstitch_server.embedded import EmbeddedPostgres
from lockstitch_server.model import (
    CallerRole,
    Change,
    CheckpointPlace,
    CheckpointValue,
    CheckpointWrite,
    Method,
    NewCheckpoint,
    NewSession,
    Principal,
    SessionRef,
)
from lockstitch_server.store.changing import Statements
from lockstitch_server.store.checkpoints import CheckpointFilter, CheckpointStore
from lockstitch_server.store.reading import Reading
from support.databases import TEMPLATE, Database, made_database
from support.measured import Measured, executed, measured

TENANT = "t1"
SESSIONS, EACH = 10_000, 10
LONG = 3000
PLANNINGS = 8
"""A plan is kept after five executions."""
BYTES_MAX = 3 * 2**20
PAGE, SCANNED_MAX = 51, 5000
PARENT = "00000"
numbers = count(1)

WITHOUT_VACUUM = """
do $$
declare
    v_table regclass;
begin
    for v_table in select oid from pg_class where relnamespace = 'lockstitch'::regnamespace and relkind = 'r' loop
        execute format('alter table %s set (autovacuum_enabled = off)', v_table);
    end loop;
end
$$
"""
"""What vacuum reads would be counted, too."""

# Ten checkpoints in each of ten thousand sessions, of ten runs and in two namespaces. All have the same ids, some
# smaller and some greater than those that are put otherwise.
FILL_SESSIONS = f"""
    insert into lockstitch.sessions (
        session_key, create_time, version, last_seq, memory_version, fencing_token, update_time, last_activity_time,
        message_count, memory_bytes, activity_minute, status, tenant_id, user_id, session_id, agent
    )
    select md5('s' || n)::uuid, now(), 1, 0, 0, 0, now(), now(), 0, 0, 1, 1, '{TENANT}', 'u', 's' || n, ''
    from generate_series(1, {SESSIONS}) as n
"""
FILL_CHECKPOINTS = f"""
    insert into lockstitch.checkpoints (
        session_key, version, create_time, tenant_id, namespace, checkpoint_id, parent_id, run_id, format,
        value_channels, value_versions, metadata, data
    )
    select md5('s' || n)::uuid, 1, now(), '{TENANT}', case when c % 2 = 0 then 'n' else '' end,
        case when c < {EACH} / 2 then '' else 'z' end || lpad(c::text, 5, '0'), '', 'r' || n % 10, '', '{{}}', '{{}}',
        '', 'data'
    from generate_series(1, {SESSIONS}) as n
    cross join generate_series(0, {EACH} - 1) as c
"""


def ref(session_id: str) -> SessionRef:
    return SessionRef(tenant_id=TENANT, session_id=session_id, key=ids.session_key(TENANT, session_id), owner=None)


def shown(session_id: str | None = None) -> CheckpointFilter:
    """Show all of a session, or all of the tenant."""
    of = None if session_id is None else ref(session_id)
    return CheckpointFilter(ref=of, tenant_id=TENANT, namespace=None, run_id=None, before=None, after=None)


@dataclass(frozen=True, slots=True)
class Store:
    """The server's statements on one connection."""

    counted: Measured
    checkpoints: CheckpointStore

    def _change(self, session_id: str, method: Method) -> Change:
        return Change(
            session=ref(session_id),
            principal=Principal(tenant_id=TENANT, subject="e", role=CallerRole.ENGINE),
            method=method,
            request_id_hash=uuid4(),
            digest=b"\x01",
            traceparent=None,
        )

    async def put(
        self,
        session_id: str,
        checkpoint_id: str = "",
        parent_id: str = PARENT,
        *,
        namespace: str = "",
        run_id: str | None = None,
    ) -> object:
        """Put a checkpoint that is newer than the others, goes on from one, and changed one value of two."""
        checkpoint_id = checkpoint_id or f"y{next(numbers):06}"
        values = (
            CheckpointValue(channel="a", version=checkpoint_id, format="", data=b"x" * 300),
            CheckpointValue(channel="b", version="1", format="", data=b"y" * 300),
        )
        new = NewCheckpoint(
            namespace=namespace,
            checkpoint_id=checkpoint_id,
            parent_id=parent_id,
            run_id=run_id,
            format="",
            metadata=b"{}",
            data=b"x" * 300,
            values=values,
            writes=(self._write(0),),
        )
        change = self._change(session_id, Method.PUT_CHECKPOINT)
        report = await self.checkpoints.put(change, new, NewSession(user_id="u", agent=""))
        assert report.outcome == "committed"
        return report

    def _write(self, index: int) -> CheckpointWrite:
        return CheckpointWrite(task_id="t", task_path="", index=index, channel="c", format="", data=b"w" * 100)

    async def put_writes(self, session_id: str) -> object:
        writes = [self._write(next(numbers)) for _ in range(5)]
        return await self.checkpoints.put_writes(ref(session_id), None, "", PARENT, writes)

    async def latest(self, session_id: str, ancestors: int = 0) -> object:
        found = await self.checkpoints.get(
            ref(session_id), "", "", after_write=None, ancestors=ancestors, ancestor_id="", bytes_max=BYTES_MAX
        )
        assert found
        return found

    async def page(self, asked: CheckpointFilter, *, scan: int = PAGE) -> object:
        places = await self.checkpoints.places(asked, limit=PAGE, scan=scan, metadata_bytes_max=None)
        assert places
        given = await self.checkpoints.by_place(TENANT, [one.place for one in places[:50]], bytes_max=BYTES_MAX)
        assert given
        return given


Hot = Callable[[Store, str], Awaitable[object]]
SESSION = {"sessions_pk"}
COMMIT = {"commits_request_id_once", "session_details_pk", "purged_sessions_pk"}
CHECKPOINT = {"checkpoints_pk", "checkpoint_values_pk", "checkpoint_writes_pk", "checkpoints_of_later_parents"}
TENANTS = SESSION | CHECKPOINT | {"checkpoints_by_id"}
AFTER = CheckpointPlace("00003", ids.session_key(TENANT, "any"), "")
HOT: dict[str, tuple[Hot, set[str], int]] = {
    "put": (Store.put, SESSION | COMMIT | CHECKPOINT, 120),
    "put writes": (Store.put_writes, SESSION | CHECKPOINT, 60),
    "latest": (Store.latest, SESSION | CHECKPOINT, 40),
    "latest, with its ancestors": (lambda store, one: store.latest(one, 100), SESSION | CHECKPOINT, 2500),
    "a session's": (lambda store, one: store.page(shown(one)), SESSION | CHECKPOINT, 1200),
    "the tenant's": (lambda store, _: store.page(shown()), TENANTS, 1200),
    "the tenant's, further on": (
        lambda store, _: store.page(replace(shown(), after=AFTER)),
        TENANTS,
        1200,
    ),
    "the tenant's, before": (
        lambda store, _: store.page(replace(shown(), before=AFTER.checkpoint_id)),
        TENANTS,
        1200,
    ),
    "a run's": (
        lambda store, _: store.page(replace(shown(), run_id="r7", before="00003"), scan=SCANNED_MAX),
        TENANTS,
        12_000,
    ),
    "a namespace's": (
        lambda store, _: store.page(replace(shown(), namespace="n", before="00003"), scan=SCANNED_MAX),
        TENANTS,
        40_000,
    ),
}
"""Each with the indexes that it may read and the most pages."""


@pytest.fixture(scope="module", params=["never counted", "counted while small"])
async def store(request: pytest.FixtureRequest, postgres: EmbeddedPostgres) -> AsyncIterator[tuple[Store, str, str]]:
    """Statements that were planned on next to nothing; a small session, and one with thousands of checkpoints."""
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(made_database(postgres, TEMPLATE))
        await executed(database, WITHOUT_VACUUM)
        counted = await stack.enter_async_context(measured(database))
        made = _store(counted)
        small, large = fresh("small"), fresh("large")
        await _planned(made, small, database, counted_first="small" in request.param)
        await executed(database, FILL_SESSIONS)
        await executed(database, FILL_CHECKPOINTS)
        parent = ""
        for number in range(LONG):
            await made.put(large, f"{number:05}", parent)
            parent = f"{number:05}"
        yield made, small, large


def _store(counted: Measured) -> Store:
    statements, reading = Statements(counted.pool), Reading(counted.pool)
    return Store(counted, CheckpointStore(statements, reading, bytes_max=BYTES_MAX, committed=lambda *_: None))


async def _planned(made: Store, small: str, database: Database, *, counted_first: bool) -> None:
    await made.put(small, PARENT, "")
    for checkpoint_id, namespace in (("00001", ""), ("00002", "n")):
        await made.put(small, checkpoint_id, "", namespace=namespace, run_id="r7")
    for number in range(2 * PLANNINGS):
        if number == PLANNINGS and counted_first:
            await executed(database, "analyze")
        for call, _, _ in HOT.values():
            await call(made, small)


@pytest.mark.parametrize("name", HOT)
async def test_a_plan_made_on_empty_tables_serves_full_ones(store: tuple[Store, str, str], name: str) -> None:
    made, _, large = store
    call, indexes, most = HOT[name]
    await call(made, large)
    work = await made.counted.work(lambda: call(made, large))
    assert not work.whole, work
    assert set(work.scans) <= indexes, work
    assert 0 < work.pages <= most, work
