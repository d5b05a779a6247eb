"""A thousand readers who open a stream, and take nothing."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

from grpc import StatusCode, aio

from factories import fresh, said
from faults.fault import Play, fault
from lockstitch.v1.session_service_pb2 import AppendRequest, CreateIfMissing
from support.callers import Caller
from support.resources import resident_mib
from support.streams import subscribe
from support.waiting import POLL_SECONDS

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
_OPENED_SECONDS_MAX = 120.0
_COMES_AGAIN = {StatusCode.UNAVAILABLE, StatusCode.RESOURCE_EXHAUSTED, StatusCode.CANCELLED}


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
        async with asyncio.timeout(_OPENED_SECONDS_MAX):
            await asyncio.gather(
                *(
                    _opened(channels[number % _CONNECTIONS], token, session_id=session_id, undo=undo)
                    for number in range(STREAMS)
                )
            )
        yield
        grown = resident_mib(server.pid) - before
        assert grown < GROWTH_MIB_MAX, f"{STREAMS} streams that nobody reads cost {grown:.0f} MiB"


async def _opened(channel: Any, token: str, *, session_id: str, undo: AsyncExitStack) -> None:
    """Open a stream, and leave it; a server that a thousand come to turns some away for now."""
    while True:
        call = subscribe(channel, token, session_id=session_id)
        try:
            assert (await call.read()).HasField("opened")
        except aio.AioRpcError as error:
            if error.code() not in _COMES_AGAIN:
                raise
            await asyncio.sleep(POLL_SECONDS)
        else:
            undo.callback(call.cancel)
            return


async def _long_session(caller: Caller) -> str:
    session_id = fresh("session")
    for number in range(COMMITS):
        request = AppendRequest(
            session_id=session_id,
            request_id=f"{number}",
            messages=[said("x" * COMMIT_BYTES)],
            create_if_missing=CreateIfMissing(user_id="u1"),
        )
        await _appended(caller, request)
    return session_id


async def _appended(caller: Caller, request: AppendRequest) -> None:
    """Append, as often as it takes beside the traffic."""
    while True:
        try:
            await caller.sessions.Append(request)
        except aio.AioRpcError as error:
            if error.code() not in _COMES_AGAIN:
                raise
            await asyncio.sleep(POLL_SECONDS)
        else:
            return
