"""Writers that write and readers that read while something breaks."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from support.guarantees import check_guarantees
from support.journal import Journal, Writer
from support.streams import Reader
from support.waiting import until

COMMITS_BEFORE = 10
COMMITS_AFTER = 10


@asynccontextmanager
async def traffic(journal: Journal, writers: Sequence[Writer], readers: Sequence[Reader]) -> AsyncIterator[None]:
    """Write before, during and after what the context does; then every reader reads to the end, and is checked."""
    stop = asyncio.Event()
    writing = [asyncio.create_task(writer.write_on(stop)) for writer in writers]
    try:
        await more_commits(journal, COMMITS_BEFORE)
        # Each stream is open by then: one that could not be opened yet is no stream that broke.
        await asyncio.gather(*(reader.reached(COMMITS_BEFORE // 2, seconds=60) for reader in readers))
        yield
        await more_commits(journal, COMMITS_AFTER)
    except BaseException:
        # What they write may never be taken: why is what the test is to tell.
        for task in writing:
            task.cancel()
        await asyncio.gather(*writing, return_exceptions=True)
        raise
    stop.set()
    await asyncio.gather(*writing)
    await asyncio.gather(*(reader.reached(journal.last_version, seconds=60) for reader in readers))
    check_guarantees(journal, readers)


async def more_commits(journal: Journal, count: int) -> None:
    """Wait until so many further writes were acknowledged."""
    version = journal.last_version
    await until(lambda: journal.last_version >= version + count, f"{count} more commits", seconds=60)
