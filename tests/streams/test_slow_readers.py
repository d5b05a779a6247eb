"""Readers that read slowly, that do not read, and that vanish."""

import asyncio
from typing import Any

import grpc
from grpc import aio

from factories import USER
from support.guarantees import check_guarantees
from support.journal import Journal, Said
from support.proxy import proxy_to, to_tcp
from support.resources import resident_mib
from support.rpc import Refusal, outcome
from support.stage import MakeStage, Stage
from support.streams import StreamRecord, subscribe, version_of
from support.waiting import POLL_SECONDS

LARGE = "x" * 1_000_000
STALL_SECONDS = 1
GROWTH_MIB_MAX = 120
TAKES_LITTLE = (("grpc.use_local_subchannel_pool", 1), ("grpc.http2.bdp_probe", 0))
"""A connection of its own, which takes 64 KiB of a stream for who does not read it."""
SLOW_CONSUMER = (grpc.StatusCode.RESOURCE_EXHAUSTED, "SLOW_CONSUMER")


async def read_to_the_end(call: Any, record: StreamRecord) -> Refusal:
    """Read what is there, until the stream ends with an error."""
    while True:
        frame = await outcome(call.read())
        if isinstance(frame, Refusal):
            return frame
        record.frames.append(frame)


async def has_room(stage: Stage, session_id: str) -> bool:
    """Open a stream and leave it, if there is room for one."""
    call = stage.open(session_id, after_version=1)
    first = await outcome(call.read())
    call.cancel()
    if isinstance(first, Refusal):
        assert first.what == (grpc.StatusCode.RESOURCE_EXHAUSTED, "SUBSCRIPTION_LIMIT")
        return False
    return True


async def until_there_is_room(stage: Stage, session_id: str) -> None:
    """Wait until streams that ended are counted no more."""
    async with asyncio.timeout(30):
        while not await has_room(stage, session_id):
            await asyncio.sleep(POLL_SECONDS)


async def write_large(stage: Stage, session_id: str, journal: Journal, count: int) -> None:
    writer = stage.writer(session_id, journal)
    for number in range(count):
        await writer.append(Said(USER, f"{journal.last_version}.{number} {LARGE}"))


async def test_a_stream_that_is_not_taken_ends_and_its_reader_is_told_when_it_reads_again(
    make_stage: MakeStage,
) -> None:
    stage = await make_stage(LOCKSTITCH_STREAM_STALL_MAX=str(STALL_SECONDS), LOCKSTITCH_USER_STREAMS_MAX="2")
    session_id, journal = await stage.session(), Journal()
    reader = await stage.follow(session_id)
    stalled = stage.open(session_id)
    record = StreamRecord("stalled", 0, frames=[await stalled.read()])
    # More than the connection takes without being read.
    await write_large(stage, session_id, journal, 30)
    await reader.reached(journal.last_version)
    await asyncio.sleep(2 * STALL_SECONDS)  # the stall itself
    assert not await has_room(stage, session_id)

    told = await read_to_the_end(stalled, record)
    assert told.what == SLOW_CONSUMER
    assert record.cursor < journal.last_version
    # The caller took note, so there is room again: it resumes where it was.
    resumed = await stage.follow(session_id, name="stalled", after_version=record.cursor)
    await resumed.reached(journal.last_version)
    resumed.streams.insert(0, record)
    check_guarantees(journal, [reader, resumed])
    assert len(reader.streams) == 1, "another reader was disturbed"


async def test_streams_that_are_never_taken_hold_no_more_memory_than_the_limits_allow(make_stage: MakeStage) -> None:
    stage = await make_stage(LOCKSTITCH_STREAM_STALL_MAX=str(STALL_SECONDS), LOCKSTITCH_USER_STREAMS_MAX="5")
    session_id, journal = await stage.session(), Journal()
    await write_large(stage, session_id, journal, 30)
    pid = stage.servers[0].process.pid
    before = resident_mib(pid)
    for _ in range(5):
        await stage.open(session_id).read()
    await asyncio.sleep(2 * STALL_SECONDS)  # the stall itself
    assert not await has_room(stage, session_id), "streams were let go while they still held frames"
    assert resident_mib(pid) - before < GROWTH_MIB_MAX


async def test_streams_that_stop_early_hold_small_pages_of_the_log(make_stage: MakeStage) -> None:
    stage = await make_stage()
    session_id, journal = await stage.session(), Journal()
    writer = stage.writer(session_id, journal)
    for number in range(60):
        await writer.append(Said(USER, f"{number} {LARGE[:20_000]}"))
    channels = [
        await stage.undo.enter_async_context(aio.insecure_channel(stage.servers[0].target, options=TAKES_LITTLE))
        for _ in range(10)
    ]
    pid = stage.servers[0].process.pid
    before = resident_mib(pid)
    calls: list[Any] = [subscribe(channel, stage.token(), session_id=session_id) for channel in channels * 10]
    for call in calls:
        stage.undo.callback(call.cancel)
    # The first commit comes when the page that it stands on was read.
    while frames := await asyncio.gather(*(call.read() for call in calls)):
        if all(frame.HasField("commit") for frame in frames):
            break
    assert resident_mib(pid) - before < len(calls) * 0.5


async def test_readers_that_leave_in_the_middle_of_a_frame_leave_nothing_behind(make_stage: MakeStage) -> None:
    stage = await make_stage(LOCKSTITCH_USER_STREAMS_MAX="3")
    session_id, journal = await stage.session(), Journal()
    await write_large(stage, session_id, journal, 10)
    pid = stage.servers[0].process.pid

    async def some_leave() -> None:
        for _ in range(40):
            call = stage.open(session_id)
            for _ in range(3):
                assert (await call.read()) is not aio.EOF
            call.cancel()
            await until_there_is_room(stage, session_id)

    await some_leave()
    warm = resident_mib(pid)
    await some_leave()
    assert resident_mib(pid) - warm < 40


async def test_a_slow_reader_is_given_everything_and_holds_up_nobody(make_stage: MakeStage) -> None:
    stage = await make_stage(LOCKSTITCH_STREAM_STALL_MAX="5")
    session_id, journal = await stage.session(), Journal()
    async with proxy_to(to_tcp(stage.servers[0].target)) as proxy:
        proxy.delay_seconds = 0.02
        slow = await stage.follow(session_id, targets=[proxy.target])
        quick = await stage.follow(session_id)
        await slow.caught_up()
        writer = stage.writer(session_id, journal)
        while "fell_behind" not in slow.stream.kinds:
            await writer.write(10, padding=LARGE[:50_000])
            await quick.reached(journal.last_version)
        assert slow.cursor < quick.cursor
        proxy.restore()
        await slow.reached(journal.last_version)
    check_guarantees(journal, [slow, quick])
    assert (len(slow.streams), len(quick.streams)) == (1, 1)


async def test_a_caller_that_vanished_without_a_goodbye_is_counted_no_more(make_stage: MakeStage) -> None:
    stage = await make_stage(LOCKSTITCH_CONNECTION_PING_INTERVAL="1", LOCKSTITCH_USER_STREAMS_MAX="1")
    session_id = await stage.session()
    async with proxy_to(to_tcp(stage.servers[0].target)) as proxy:
        channel = aio.insecure_channel(proxy.target)
        call = subscribe(channel, stage.token(), session_id=session_id)
        assert version_of(await call.read()) is None
        assert not await has_room(stage, session_id)
        proxy.half_open()
        await until_there_is_room(stage, session_id)
        await channel.close()
