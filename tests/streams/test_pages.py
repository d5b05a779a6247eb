"""Catching up and falling behind, with pages and windows of any size."""

import asyncio

import pytest

from factories import ASSISTANT, USER
from lockstitch_server.server_process import ServerProcess
from support.guarantees import check_guarantees
from support.journal import Journal
from support.stage import MakeStage, Stage
from support.streams import Reader

BACKLOG = 12
"""Commits that are there before a reader comes, the session's creation among them."""


@pytest.fixture(params=[1, 2, BACKLOG, BACKLOG + 1])
async def paged(request: pytest.FixtureRequest, make_stage: MakeStage, server: ServerProcess) -> Stage:
    """A server whose pages, and windows, hold so many commits, and an ordinary one."""
    size = str(request.param)
    settings = {"LOCKSTITCH_SUBSCRIPTION_PAGE_COMMITS_MAX": size, "LOCKSTITCH_SUBSCRIPTION_WINDOW_COMMITS_MAX": size}
    stage = await make_stage(1, **settings)
    stage.servers.append(server)
    return stage


async def test_pages_of_any_size_leave_nothing_out(paged: Stage) -> None:
    session_id, journal = await paged.session(), Journal()
    await paged.writer(session_id, journal).write(BACKLOG - 1, messages=2)
    small = [paged.servers[0].target]
    behind = [
        await paged.follow(session_id, targets=small, after_version=after) for after in (0, 1, BACKLOG - 1, BACKLOG)
    ]
    behind.append(await paged.follow(session_id, targets=small, roles=[ASSISTANT]))
    for reader in behind:
        await reader.caught_up()
        assert reader.cursor == BACKLOG
    writers = [paged.writer(session_id, journal) for _ in range(4)]
    writing = asyncio.gather(
        *(writer.write(10, role=(USER, ASSISTANT)[place % 2]) for place, writer in enumerate(writers))
    )
    during = [await paged.follow(session_id, targets=small) for _ in range(2)]
    await writing
    readers = [*behind, *during]
    await asyncio.gather(*(reader.reached(journal.last_version) for reader in readers))
    check_guarantees(journal, readers)
    assert [len(reader.streams) for reader in readers] == [1] * len(readers)


async def test_a_reader_that_is_slower_than_the_writers_is_told_and_loses_nothing(
    make_stage: MakeStage, server: ServerProcess
) -> None:
    stage = await make_stage(
        1, LOCKSTITCH_SUBSCRIPTION_WINDOW_COMMITS_MAX="2", LOCKSTITCH_SUBSCRIPTION_PAGE_COMMITS_MAX="3"
    )
    stage.servers.append(server)
    session_id, journal = await stage.session(), Journal()
    readers = [await stage.follow(session_id, targets=[stage.servers[0].target]) for _ in range(2)]
    for reader in readers:
        await reader.caught_up()
    writers = [stage.writer(session_id, journal) for _ in range(4)]
    while not all("fell_behind" in reader.stream.kinds for reader in readers):
        await asyncio.gather(*(writer.write(5, padding="x" * 10_000) for writer in writers))
    await asyncio.gather(*(reader.reached(journal.last_version) for reader in readers))
    for reader in readers:
        await in_the_present(reader)
    check_guarantees(journal, readers)


async def in_the_present(reader: Reader) -> None:
    def is_so() -> bool:
        return [kind for kind in reader.stream.kinds if kind in {"caught_up", "fell_behind"}][-1] == "caught_up"

    await reader.until(is_so, "the present")
