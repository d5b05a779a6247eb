"""The six guarantees under traffic, on both buses: two servers, many writers, readers that come and go."""

import asyncio
import random

from factories import ASSISTANT, USER
from support.guarantees import check_guarantees
from support.journal import Journal
from support.stage import Stage
from support.streams import Reader
from support.waiting import POLL_SECONDS


async def test_a_stream_is_opened_catches_up_and_goes_on_live(stage: Stage) -> None:
    session_id, journal = await stage.session(), Journal()
    here, there = (server.target for server in stage.servers)
    await stage.writer(session_id, journal, [there]).write(3)
    reader = await stage.follow(session_id, targets=[here])
    await reader.caught_up()
    assert reader.stream.kinds == ["opened", "commit", "commit", "commit", "commit", "caught_up"]
    assert reader.stream.frames[0].opened.version == 4
    assert reader.stream.frames[-1].caught_up.version == 4
    await stage.writer(session_id, journal, [there]).write(1)
    await reader.reached(5)
    await stage.writer(session_id, journal, [here]).write(1)
    await reader.reached(6)
    check_guarantees(journal, [reader])
    assert len(reader.streams) == 1


async def test_many_writers_on_two_servers_and_readers_of_both_see_one_history(stage: Stage) -> None:
    session_id, journal = await stage.session(), Journal()
    readers = [await stage.follow(session_id, targets=[server.target]) for server in stage.servers for _ in range(2)]
    readers += [await stage.follow(session_id, roles=[role]) for role in (USER, ASSISTANT)]
    writers = [stage.writer(session_id, journal) for _ in range(6)]
    await asyncio.gather(
        *(
            writer.write(20, messages=1 + number % 3, role=(USER, ASSISTANT)[number % 2])
            for number, writer in enumerate(writers)
        )
    )
    await asyncio.gather(*(reader.reached(journal.last_version) for reader in readers))
    check_guarantees(journal, readers)
    assert [len(reader.streams) for reader in readers] == [1] * len(readers)


async def test_readers_that_leave_at_random_and_resume_on_the_other_server_miss_and_repeat_nothing(
    stage: Stage,
) -> None:
    session_id, journal = await stage.session(), Journal()
    readers = [await stage.follow(session_id, roles=roles) for roles in ([], [], [], [ASSISTANT])]
    writers = [stage.writer(session_id, journal) for _ in range(4)]
    writing = asyncio.gather(
        *(writer.write(40, role=(USER, ASSISTANT)[number % 2]) for number, writer in enumerate(writers))
    )
    leaving = [asyncio.create_task(_leave_at_random(reader)) for reader in readers]
    await writing
    for task in leaving:
        task.cancel()
    await asyncio.gather(*leaving, return_exceptions=True)
    await asyncio.gather(*(reader.reached(journal.last_version) for reader in readers))
    check_guarantees(journal, readers)
    assert all(len(reader.streams) > 3 for reader in readers)


async def _leave_at_random(reader: Reader) -> None:
    while True:
        seen, more = len(reader.versions), random.randint(0, 12)
        while len(reader.versions) < seen + more:
            await asyncio.sleep(POLL_SECONDS)
        reader.leave()
        streams = len(reader.streams)
        while len(reader.streams) == streams:
            await asyncio.sleep(POLL_SECONDS)
