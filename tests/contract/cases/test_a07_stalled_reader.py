"""Case A07: a reader that stops reading does not eat the server's memory."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack

import pytest
from grpc import aio

from factories import USER, fresh
from lockstitch_server.server_process import ServerProcess
from support.databases import Database
from support.guarantees import check_guarantees
from support.journal import Journal, Said, Writer
from support.proxy import proxy_to, to_tcp
from support.resources import resident_mib
from support.rpc import Refusal, outcome
from support.stage import Stage
from support.streams import CHANNEL_OPTIONS, StreamRecord, subscribe, version_of
from support.waiting import POLL_SECONDS

MESSAGES, MESSAGE_BYTES, AT_ONCE = 5000, 10_000, 8
GROWTH_MIB_MAX = 20
PING_SECONDS, FREED_SECONDS_MAX = 5, 60


@pytest.fixture
async def undo() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as stack:
        yield stack


async def append_all(writer: Writer, count: int) -> list[float]:
    """Append so many messages, some at once; gives how long each took."""
    seconds = []

    async def some() -> None:
        for _ in range(count // AT_ONCE):
            started = time.perf_counter()
            await writer.append(Said(USER, fresh("m").ljust(MESSAGE_BYTES, "x")))
            seconds.append(time.perf_counter() - started)

    await asyncio.gather(*(some() for _ in range(AT_ONCE)))
    return seconds


@pytest.mark.timeout(600)  # 50 MB, on whatever machine
async def test_a_reader_that_never_reads_costs_bounded_memory_and_disturbs_nobody(
    shared_database: Database, start_server: Callable[..., ServerProcess], undo: AsyncExitStack
) -> None:
    settings = {"LOCKSTITCH_STREAMS_MAX": "2", "LOCKSTITCH_CONNECTION_PING_INTERVAL": str(PING_SECONDS)}
    server = start_server(shared_database, **settings)
    stage = Stage([server], undo)
    pid = server.process.pid
    # What a server grows by when it first works is not what a reader costs.
    await append_all(stage.writer(await stage.session(), Journal()), 1000)
    session_id, journal = await stage.session(), Journal()
    reading = await stage.follow(session_id)
    await reading.caught_up()
    async with proxy_to(to_tcp(server.target)) as proxy:
        channel = aio.insecure_channel(proxy.target, options=CHANNEL_OPTIONS)
        stalled = subscribe(channel, stage.token(), session_id=session_id)
        record = StreamRecord("stalled", 0, frames=[await stalled.read()])

        before = resident_mib(pid)
        await append_all(stage.writer(session_id, journal), MESSAGES)
        growth = resident_mib(pid) - before
        await reading.reached(journal.last_version, seconds=60)
        assert growth < GROWTH_MIB_MAX, "it is the reader that is to wait, not what it is sent"

        # It had received some before it was cut; then nobody hears of it again.
        while version_of(record.frames[-1]) is None or record.cursor < 20:
            record.frames.append(await stalled.read())
        assert await _is_full(stage, session_id), "the stalled stream was let go"
        proxy.half_open()
        async with asyncio.timeout(FREED_SECONDS_MAX):
            while await _is_full(stage, session_id):
                await asyncio.sleep(POLL_SECONDS)
        await channel.close()

    resumed = await stage.follow(session_id, name="stalled", after_version=record.cursor)
    await resumed.reached(journal.last_version)
    resumed.streams.insert(0, record)
    assert journal.last_version == 1 + MESSAGES
    check_guarantees(journal, [reading, resumed])
    assert resumed.versions == reading.versions == list(range(1, MESSAGES + 2))
    assert len(reading.streams) == 1


async def _is_full(stage: Stage, session_id: str) -> bool:
    """Whether two streams are open: no third one is let in."""
    call = stage.open(session_id, after_version=1)
    first = await outcome(call.read())
    call.cancel()
    if isinstance(first, Refusal):
        assert first.reason == "SUBSCRIPTION_LIMIT"
        return True
    return False
