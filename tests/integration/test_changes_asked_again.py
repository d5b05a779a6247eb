"""A change whose connection broke may have been made: whatever becomes of asking again, nobody is told otherwise."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from lockstitch_server import failpoints
from lockstitch_server.errors import CommitOutcomeUnknown, Overloaded
from lockstitch_server.store.changing import Statements
from lockstitch_server.store.pool import BACKGROUND_ROLE, Pool
from support.databases import Database

COUNT = ("count_sessions", "tenant", None, 1)
"""A statement that is run as changes are; what it does is of no matter here."""


@pytest.fixture
async def pool(database: Database, tmp_path: Path) -> AsyncIterator[Pool]:
    """A single connection, for which nobody waits long."""
    made = Pool(
        database.app_url,
        connections_max=1,
        wait=timedelta(milliseconds=100),
        statement_timeout=timedelta(milliseconds=500),
        role=BACKGROUND_ROLE,
    )
    await made.fetch("select 1")
    failpoints.obey(tmp_path)
    yield made
    failpoints.obey(None)
    await made.close()


async def _with_another_statement_behind(pool: Pool) -> None:
    change = asyncio.create_task(Statements(pool).fetch(*COUNT))
    blocker = asyncio.create_task(pool.fetch("select pg_sleep(0.4)"))
    try:
        await change
    finally:
        await blocker


async def test_it_is_unknown_where_no_connection_came_free_to_ask_again(pool: Pool, tmp_path: Path) -> None:
    (tmp_path / "after_commit").write_text("lose")
    with pytest.raises(CommitOutcomeUnknown):
        await _with_another_statement_behind(pool)


async def test_it_was_not_made_where_it_was_never_sent(pool: Pool) -> None:
    blocker = asyncio.create_task(pool.fetch("select pg_sleep(0.4)"))
    await asyncio.sleep(0)
    with pytest.raises(Overloaded):
        await Statements(pool).fetch(*COUNT)
    await blocker


async def test_it_is_unknown_where_every_answer_is_lost(pool: Pool, tmp_path: Path) -> None:
    (tmp_path / "after_commit").write_text("lose")
    with pytest.raises(CommitOutcomeUnknown):
        await Statements(pool).fetch(*COUNT)
