"""Case A06: no cursor skips a commit that came late."""

import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from factories import texts_of
from lockstitch_server.server_process import ServerProcess
from support.databases import Database
from support.guarantees import check_guarantees
from support.journal import Journal
from support.rpc import Rpc
from support.stage import Stage
from support.streams import Reader
from support.waiting import POLL_SECONDS

WRITERS, EACH, EACH_LATE = 16, 50, 10
SUBSCRIBERS, RESUME_AFTER = 4, 20
COMPLETE_SECONDS_MAX = 2
LATE_COMMITS = (
    """
    create function lockstitch.commit_late() returns trigger language plpgsql
        as $$ begin perform pg_sleep(random() * 0.05); return null; end $$
    """,
    """
    create constraint trigger commits_late after insert on lockstitch.commits
        deferrable initially deferred for each row execute function lockstitch.commit_late()
    """,
)
"""Between the insert and its commit up to 50 ms pass."""


@pytest.fixture
async def undo() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as stack:
        yield stack


async def test_no_subscriber_misses_or_repeats_one_of_800_appends_from_16_writers_on_two_servers(
    shared_servers: tuple[ServerProcess, ServerProcess], undo: AsyncExitStack
) -> None:
    await _all_is_read(Stage(shared_servers, undo), EACH)


async def test_nor_where_every_commit_comes_late(
    server_pair: tuple[ServerProcess, ServerProcess], database: Database, undo: AsyncExitStack
) -> None:
    for statement in LATE_COMMITS:
        await database.as_superuser(statement)
    await _all_is_read(Stage(server_pair, undo), EACH_LATE)


async def _all_is_read(stage: Stage, each: int) -> None:
    """Write to one session from 16 clients while others read it, drop their streams and resume them."""
    session_id, journal = await stage.session(), Journal()
    writing = asyncio.gather(
        *(
            stage.writer(session_id, journal, [stage.servers[number % 2].target]).write(each)
            for number in range(WRITERS)
        )
    )
    readers: list[Reader] = []
    resuming: list[asyncio.Task[None]] = []
    for place in range(SUBSCRIBERS):
        while journal.last_version < random.randint(1, 2 * each) * (place + 1):
            await asyncio.sleep(POLL_SECONDS)
        readers.append(await stage.follow(session_id))
        resuming.append(asyncio.create_task(_drop_and_resume(readers[-1])))
    await writing
    written = time.monotonic()
    for task in resuming:
        task.cancel()
    await asyncio.gather(*resuming, return_exceptions=True)
    for reader in readers:
        await reader.reached(journal.last_version)
    assert time.monotonic() - written <= COMPLETE_SECONDS_MAX

    assert journal.last_version == 1 + WRITERS * each
    check_guarantees(journal, readers)
    listed = await _all_texts(stage.rpc(), session_id)
    for reader in readers:
        assert reader.versions == list(range(1, journal.last_version + 1))
        assert reader.texts == listed
        assert len(reader.streams) > 1


async def _drop_and_resume(reader: Reader) -> None:
    while True:
        seen = len(reader.versions)
        while len(reader.versions) < seen + RESUME_AFTER:
            await asyncio.sleep(POLL_SECONDS)
        streams = len(reader.streams)
        reader.leave()
        await reader.resumed(streams)


async def _all_texts(rpc: Rpc, session_id: str) -> list[str]:
    texts: list[str] = []
    token = ""
    while True:
        page = await rpc.ListMessages(session_id=session_id, page_size=1000, page_token=token)
        texts += texts_of(page.messages)
        token = page.next_page_token
        if not token:
            return texts
