"""A batch reads by indexes, also where it was planned on empty tables, on a connection that allows any plan."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from factories import fresh
from lockstitch_server.embedded import EmbeddedPostgres
from lockstitch_server.model import Content
from lockstitch_server.store.changing import Statements
from lockstitch_server.store.commit_arguments import Limits, NewCommit, of_batch
from lockstitch_server.store.group_commit import GroupCommit
from lockstitch_server.store.writer import Writer
from support.databases import TEMPLATE, made_database
from support.measured import UNWATCHED, Measured, executed, measured
from support.stored import Written, answered, asked, said

LIMITS = Limits(session_messages_max=100_000, memory_bytes_max=2**20)
MESSAGES = 4000
WAIT = timedelta(seconds=1)
PLANNINGS = 8
"""A plan is kept after five executions."""
PAGES_AN_ITEM_MAX = 80
INDEXES = {
    "sessions_pk",
    "commits_request_id_once",
    "messages_by_message_id",
    "messages_history_by_message_id",
    "messages_history_pk",
    "tool_calls_pk",
    "tool_calls_by_call_id",
}


@pytest.fixture(scope="module")
async def planned(postgres: EmbeddedPostgres) -> AsyncIterator[tuple[Measured, Written, str]]:
    """A connection that planned its batches on next to nothing, and a session that grew large since."""
    async with made_database(postgres, TEMPLATE) as database, measured(database) as counted:
        await executed(database, UNWATCHED)
        for allowed in ("seqscan", "bitmapscan", "hashjoin", "mergejoin"):
            await counted.pool.fetch(f"set enable_{allowed} = on")
        statements = Statements(counted.pool)
        writer = Writer(statements, LIMITS, group=None, committed=lambda *_: None)
        store = Written(counted.pool, writer, GroupCommit(statements, LIMITS, wait=WAIT, queue_max=1), fresh("tenant"))
        small, large = await store.create(), await store.create()
        for _ in range(PLANNINGS):
            assert await _batch(store, small) == {"committed"}
        async with measured(database) as others:
            filling = Written(
                others.pool,
                Writer(Statements(others.pool), LIMITS, group=None, committed=lambda *_: None),
                store.group,
                store.tenant,
            )
            for place in range(MESSAGES // 100):
                messages = [said("x" * 300, message_id=f"m{place}-{number}") for number in range(100)]
                await filling.append(large, *messages)
                message, call = asked(f"c{place}")
                await filling.append(large, message, ledger=(call,))
        await executed(database, "analyze")
        await counted.alone()
        yield counted, store, large


async def _batch(store: Written, session_id: str) -> set[str]:
    """Make a batch of messages with ids of their own, of calls and of results."""
    call_id = fresh("call")
    contents = [Content(messages=(said("x" * 300, message_id=fresh("m")),)) for _ in range(4)]
    for message, step in (asked(call_id), answered(call_id, b"done")):
        contents.append(Content(messages=(message,), ledger=(step,)))
    commits = [NewCommit(store.change(session_id), content, None, 0) for content in contents]
    rows = await Statements(store.pool).once("append_batch", *of_batch(commits, LIMITS, wait=False))
    assert len(rows) == len(commits)
    return {row["r_outcome"] for row in rows}


async def test_a_batch_that_was_planned_on_empty_tables_reads_few_pages_of_full_ones(
    planned: tuple[Measured, Written, str],
) -> None:
    counted, store, large = planned
    await _batch(store, large)
    work = await counted.work(lambda: _batch(store, large))
    assert not work.whole, work
    assert set(work.scans) <= INDEXES, work
    assert 0 < work.pages <= 6 * PAGES_AN_ITEM_MAX, work
