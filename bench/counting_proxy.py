"""Stands between a server and its Postgres and counts the round trips that the server waits for."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

_HEADER = 5
_WAITED_FOR = b"SQH"
"""Sync, simple Query and Flush: after each of them a client waits for the answer."""

_POOL = b"application_name\0lockstitch-server\0"
"""How connections that carry calls begin; others are for notifications, which no call waits for."""


class CountingProxy:
    """A Unix socket that hands everything on to another one."""

    def __init__(self, upstream: Path) -> None:
        """`upstream` is Postgres's own socket."""
        self._upstream = upstream
        self.round_trips = 0

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Hand one connection on, both ways, until either side ends it."""
        upstream_reader, upstream_writer = await asyncio.open_unix_connection(self._upstream)
        relays = [
            asyncio.create_task(self._count(reader, upstream_writer)),
            asyncio.create_task(_relay(upstream_reader, writer)),
        ]
        try:
            await asyncio.wait(relays, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in relays:
                task.cancel()
            await asyncio.gather(*relays, return_exceptions=True)
            upstream_writer.close()
            writer.close()

    async def _count(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """A frontend message is a type and its length; only the first has no type."""
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            length = await reader.readexactly(4)
            startup = await reader.readexactly(int.from_bytes(length) - 4)
            writer.write(length + startup)
            while True:
                header = await reader.readexactly(_HEADER)
                if header[:1] in _WAITED_FOR and _POOL in startup:
                    self.round_trips += 1
                writer.write(header + await reader.readexactly(int.from_bytes(header[1:]) - 4))
                await writer.drain()


async def _relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(64 * 1024):
            writer.write(data)
            await writer.drain()


@asynccontextmanager
async def counting_proxy(folder: Path, upstream: Path) -> AsyncIterator[CountingProxy]:
    """Listen in `folder`, where clients that were told so look for Postgres's socket."""
    proxy = CountingProxy(upstream)
    async with await asyncio.start_unix_server(proxy.accept, folder / ".s.PGSQL.5432"):
        yield proxy
