"""A thousand readers who open a stream, and take nothing."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

from grpc import aio

from factories import fresh, said
from faults.fault import Play, fault
from lockstitch.v1.session_service_pb2 import AppendRequest, CreateIfMissing
from support.callers import Caller
from support.resources import resident_mib
from support.streams import subscribe

STREAMS = 1000
COMMITS = 200
COMMIT_BYTES = 20 * 1024
"""A session is longer than what the network and a page of the log hold."""
GROWTH_MIB_MAX = 400.0
"""What they may cost the server: not a whole page of the log each, which would be 1 GiB."""

_CONNECTIONS = 100
"""Streams of one connection share what it holds: with few of them most would stand at their first frame."""
_CHANNEL_OPTIONS = (
    ("grpc.use_local_subchannel_pool", 1),
    # Else gRPC takes megabytes of each stream for us, though we take nothing.
    ("grpc.http2.bdp_probe", 0),
)
_OPENED_SECONDS_MAX = 60.0


@fault("1,000 streams that nobody reads", hold=(1.0, 50.0))
async def streams_that_nobody_reads(play: Play) -> AsyncIterator[None]:
    """They fill what the network holds, and stand."""
    server, tenant = play.one(), fresh("stalled")
    async with AsyncExitStack() as undo:
        token = play.stage.token(tenant=tenant)
        async with Caller(server.near.target, token) as caller:
            session_id = await _long_session(caller)
        channels = [
            await undo.enter_async_context(aio.insecure_channel(server.near.target, options=_CHANNEL_OPTIONS))
            for _ in range(_CONNECTIONS)
        ]
        before = resident_mib(server.pid)
        calls: list[Any] = [
            subscribe(channels[number % _CONNECTIONS], token, session_id=session_id) for number in range(STREAMS)
        ]
        for call in calls:
            undo.callback(call.cancel)
        async with asyncio.timeout(_OPENED_SECONDS_MAX):
            opened = await asyncio.gather(*(call.read() for call in calls))
        assert all(frame.HasField("opened") for frame in opened)
        yield
        grown = resident_mib(server.pid) - before
        assert grown < GROWTH_MIB_MAX, f"{STREAMS} streams that nobody reads cost {grown:.0f} MiB"


async def _long_session(caller: Caller) -> str:
    session_id = fresh("session")
    for number in range(COMMITS):
        request = AppendRequest(
            session_id=session_id,
            request_id=f"{number}",
            messages=[said("x" * COMMIT_BYTES)],
            create_if_missing=CreateIfMissing(user_id="u1"),
        )
        await caller.sessions.Append(request)
    return session_id
