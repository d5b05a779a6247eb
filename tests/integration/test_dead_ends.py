"""Postgres is asked to notice connections that the network forgot: it would keep them for two hours."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from datetime import timedelta

import pytest

from lockstitch_server.bus import BusLostError
from lockstitch_server.errors import DatabaseUnavailable
from lockstitch_server.store.notifications import PostgresBus
from lockstitch_server.store.pool import BACKGROUND_ROLE, Pool

ASKED = {"tcp_keepalives_idle": "30", "tcp_keepalives_interval": "10", "tcp_keepalives_count": "3"}


class Listening:
    """Takes connections as Postgres would, notes what their first packet asks for, and hangs up."""

    def __init__(self) -> None:
        self.packets: list[dict[str, str]] = []
        self.url = ""

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        size = int.from_bytes(await reader.readexactly(4))
        packet = await reader.readexactly(size - 4)
        # The version, then names and values, each with a zero behind it, and one more.
        words = packet[4:].rstrip(b"\0").decode().split("\0")
        self.packets.append(dict(zip(words[::2], words[1::2], strict=True)))
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


@pytest.fixture
async def listening() -> AsyncIterator[Listening]:
    made = Listening()
    async with await asyncio.start_server(made.take, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        made.url = f"postgresql://somebody@127.0.0.1:{port}/lockstitch?sslmode=disable"
        yield made


async def _of_pool(url: str) -> None:
    await Pool(url, connections_max=1, wait=timedelta(1), statement_timeout=timedelta(1)).fetch("select 1")


async def _of_background(url: str) -> None:
    pool = Pool(url, connections_max=1, wait=timedelta(1), statement_timeout=timedelta(1), role=BACKGROUND_ROLE)
    await pool.fetch("select 1")


async def _of_listener(url: str) -> None:
    await PostgresBus(url).connect(lambda _: None)


@pytest.mark.parametrize("connect", [_of_pool, _of_background, _of_listener])
async def test_every_connection_that_is_held_asks_postgres_to_notice_its_loss(
    listening: Listening, connect: Callable[[str], Awaitable[None]]
) -> None:
    with pytest.raises((DatabaseUnavailable, BusLostError)):
        await connect(listening.url)
    assert ASKED.items() <= listening.packets[0].items()
