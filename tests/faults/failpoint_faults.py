"""Each failpoint of the server, each order it takes: die there, pause there, lose the connection there."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from grpc import aio

from faults.fault import Breaks, Play, add
from faults.stage import Server
from lockstitch_server.failpoints import NAMES
from support.streams import subscribe
from support.waiting import POLL_SECONDS

_HOLD = (0.2, 4.0)
_POKE_SECONDS_MAX = 5.0
_DRAIN = "during_drain"
ORDERS = ("die", "pause", "lose 0.5")
STREAMS = {"between_pages", "before_handover"}
"""Where only streams that are opened come by."""


def _orders(name: str) -> tuple[str, ...]:
    return ORDERS[:2] if name == _DRAIN else ORDERS


def _breaks(name: str) -> Breaks:
    orders = _orders(name)

    @asynccontextmanager
    async def broken(play: Play) -> AsyncIterator[None]:
        order, server = orders[play.turn % len(orders)], play.one()
        file = server.orders / name
        async with _opening_streams(play, server, often=name in STREAMS):
            try:
                file.write_text(order)
                if name == _DRAIN:
                    os.kill(server.pid, signal.SIGTERM)
                if order == "die":
                    await server.ended()
                yield
            finally:
                file.unlink()
                if name == _DRAIN:
                    await server.ended()
                if not server.is_running:
                    await server.start()

    return broken


@asynccontextmanager
async def _opening_streams(play: Play, server: Server, *, often: bool) -> AsyncIterator[None]:
    """Have streams opened for as long as the context lasts: they come by where a stream begins."""
    task = asyncio.create_task(_open_streams(play, server), name="opening streams") if often else None
    try:
        yield
    finally:
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def _open_streams(play: Play, server: Server) -> None:
    while True:
        channel = play.servers.channel(server.name, "opening")
        async with play.traffic.lent() as view:
            call = subscribe(channel, play.servers.token, session_id=view.session_id)
            with suppress(aio.AioRpcError, TimeoutError):
                async with asyncio.timeout(_POKE_SECONDS_MAX):
                    while (frame := await call.read()) is not aio.EOF and not frame.HasField("caught_up"):
                        pass
            call.cancel()
        await asyncio.sleep(POLL_SECONDS)


for _name in NAMES:
    add(f"failpoint {_name}", _breaks(_name), hold=_HOLD, variants=len(_orders(_name)))
