"""Case A05: a subscriber loses and repeats nothing across a server's restart."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack

import grpc
import pytest

from factories import said, texts_of
from lockstitch_server.server_process import ServerProcess
from support.databases import Database
from support.rpc import Refusal, outcome
from support.stage import Stage

QUIET_SECONDS = 2


@pytest.fixture
async def undo() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as stack:
        yield stack


async def test_a_subscriber_loses_and_repeats_nothing_across_a_restart(
    shared_database: Database, start_server: Callable[..., ServerProcess], undo: AsyncExitStack
) -> None:
    doomed = start_server(shared_database)
    stage = Stage([doomed], undo)
    session_id = await stage.session()

    async def append(text: str) -> int:
        return int((await stage.rpc().Append(session_id=session_id, messages=[said(text)])).receipt.version)

    first = await stage.follow(session_id, resume=False)
    await append("s1")
    s2 = await append("s2")
    await first.reached(s2)
    assert first.texts == ["s1", "s2"]

    doomed.kill()
    assert (await first.ended()).end == grpc.StatusCode.UNAVAILABLE
    stage.servers[0] = start_server(shared_database)
    await append("s3")
    await append("s4")
    second = await stage.follow(session_id, after_version=s2)
    s5 = await append("s5")
    await second.reached(s5)
    assert second.texts == ["s3", "s4", "s5"]

    # An idle stream stays open, and says nothing.
    third = stage.open(session_id, after_version=s5)
    assert (await third.read()).opened.version == s5
    assert (await third.read()).caught_up.version == s5
    silence = asyncio.create_task(third.read())
    await asyncio.wait([silence], timeout=QUIET_SECONDS)
    assert not silence.done()
    s6 = await append("s6")
    assert texts_of((await silence).commit.messages) == ["s6"]

    ahead = await outcome(stage.open(session_id, after_version=s6 + 993).read())
    assert isinstance(ahead, Refusal)
    assert ahead.what == (grpc.StatusCode.OUT_OF_RANGE, "CURSOR_AHEAD")
    assert len(second.streams) == 1
    await second.reached(s6)
    assert second.texts == ["s3", "s4", "s5", "s6"]
