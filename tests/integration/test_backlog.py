"""How many calls wait inside gRPC, counted on a real server whose loop is busy."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest

from lockstitch.v1.admin_service_pb2 import GetServerInfoRequest
from lockstitch_server.api.backlog import Backlog
from lockstitch_server.api.line import Line
from lockstitch_server.server_process import ServerProcess
from support.callers import Caller
from support.databases import Database
from support.waiting import until

Connect = Callable[..., Caller]

CALLS = 200
LINE = 50
BUSY_SECONDS = 0.005


async def busy(request: bytes, _: Any) -> bytes:
    """Hold the loop, as work does."""
    time.sleep(BUSY_SECONDS)  # noqa: ASYNC251 - that is the point
    return request


@pytest.fixture
async def backlog() -> Backlog:
    return Backlog(line=LINE)


@pytest.fixture
async def target(backlog: Backlog) -> AsyncIterator[str]:
    """A server with methods that hold the loop, one of which overtakes the others."""
    server = grpc.aio.server()
    methods: dict[str, grpc.RpcMethodHandler[bytes, bytes]] = {
        name: grpc.unary_unary_rpc_method_handler(busy) for name in ("One", "Other", "Urgent")
    }
    line = Line(backlog, lambda _, handler: handler)
    line.add_registered_method_handlers("test.Busy", methods)
    server.add_generic_rpc_handlers((line,))
    server.add_registered_method_handlers("test.Busy", {"Urgent": line.handler("/test.Busy/Urgent")})
    port = server.add_insecure_port("127.0.0.1:0")
    async with backlog.watched(server):
        yield f"127.0.0.1:{port}"
    await server.stop(None)


async def test_what_waits_inside_grpc_is_seen_and_so_is_that_nothing_waits(backlog: Backlog, target: str) -> None:
    assert backlog.calls == 0
    channel: Any
    async with grpc.aio.insecure_channel(target) as channel:
        calls = [channel.unary_unary(f"/test.Busy/{'Other' if n % 2 else 'One'}")(b"") for n in range(CALLS)]
        seen = 0
        while not all(call.done() for call in calls):
            seen = max(seen, backlog.calls)
            await asyncio.sleep(BUSY_SECONDS)
        assert [await call for call in calls] == [b""] * CALLS
        assert CALLS / 4 < seen <= CALLS
        assert backlog.stands_since is None, "a burst is worked off, and no line"
        # A probe, and a call that wakes the watch where it was done meanwhile.
        while backlog.calls:
            await channel.unary_unary("/test.Busy/One")(b"")


async def test_what_is_registered_overtakes_the_line(backlog: Backlog, target: str) -> None:
    channel: Any
    async with grpc.aio.insecure_channel(target) as channel:
        calls = [channel.unary_unary("/test.Busy/One")(b"") for _ in range(CALLS)]
        await until(lambda: backlog.calls > CALLS / 2, "a line")
        waiting = sum(not call.done() for call in calls)
        await channel.unary_unary("/test.Busy/Urgent")(b"")
        assert sum(not call.done() for call in calls) > waiting / 2
        await asyncio.gather(*calls)


async def test_a_line_that_grows_again_behind_those_who_were_taken_over_stands(backlog: Backlog, target: str) -> None:
    channel: Any
    async with grpc.aio.insecure_channel(target) as channel:
        stood = asyncio.Event()

        async def again_and_again() -> None:
            while not stood.is_set():
                await channel.unary_unary("/test.Busy/One")(b"")
                if backlog.stands_since is not None:
                    stood.set()

        await asyncio.gather(*(again_and_again() for _ in range(CALLS)))
        while backlog.stands_since is not None or backlog.calls:
            await channel.unary_unary("/test.Busy/One")(b"")


async def test_a_server_that_can_have_no_socket_of_its_own_serves_all_the_same(
    database: Database, start_server: Callable[..., ServerProcess], connect: Connect, folder: Path
) -> None:
    too_long = folder / ("x" * 120)
    too_long.mkdir()
    server = start_server(database, TMPDIR=str(too_long))
    await connect(to=server).admin.GetServerInfo(GetServerInfoRequest())
    assert not list(too_long.iterdir())
