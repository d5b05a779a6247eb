"""Loses the reply to an append on the way: the client's own retry finds the commit instead of making another.

LOCKSTITCH_TARGET=127.0.0.1:50051 LOCKSTITCH_TOKEN=… python examples/lost_reply.py
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from lockstitch import Client, user


async def main() -> None:
    """Lose the reply to an append on the way; the client's own retry finds the commit instead of making another."""
    print("The reply to an append is lost on the way:")
    cut = asyncio.Event()
    target, token = os.environ.get("LOCKSTITCH_TARGET", "127.0.0.1:50051"), os.environ["LOCKSTITCH_TOKEN"]
    async with cutting_proxy(target, cut) as proxy, Client(proxy, token=token) as client:
        session = await client.create(user_id="ada")
        cut.set()
        receipt = await session.append(messages=[user("Pay invoice 12.")])
        check(not cut.is_set(), "the connection was cut under the reply, and the client retried")
        check(receipt.replayed, f"the retry was given the first receipt again, version {receipt.version}")
        check(len([message async for message in session.messages()]) == 1, "one message, not two")


@asynccontextmanager
async def cutting_proxy(target: str, cut: asyncio.Event) -> AsyncIterator[str]:
    """Forward connections to a server; once `cut` is set, lose the next reply and the connection with it."""
    host, _, port = target.rpartition(":")
    connections: set[asyncio.Task[None] | None] = set()

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.add(asyncio.current_task())
        server_reader, server_writer = await asyncio.open_connection(host, int(port))
        requests = asyncio.create_task(pump(reader, server_writer))
        try:
            while frame := await server_reader.readexactly(9):  # HTTP/2: 3 bytes of length, 1 of type, flags, stream
                frame += await server_reader.readexactly(int.from_bytes(frame[:3]))
                if cut.is_set() and frame[3] == 1:  # HEADERS: a reply begins, so its commit is made
                    cut.clear()
                    return
                writer.write(frame)
        except (asyncio.IncompleteReadError, ConnectionError):
            return  # either end is gone
        finally:
            requests.cancel()
            writer.close()
            server_writer.close()

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            writer.write(data)
        writer.close()

    proxy = await asyncio.start_server(forward, "127.0.0.1", 0)
    yield f"127.0.0.1:{proxy.sockets[0].getsockname()[1]}"
    proxy.close()
    await asyncio.gather(*filter(None, connections))  # their clients are gone: they end


def check(holds: bool, what: str) -> None:  # noqa: FBT001 - reads as a sentence
    """Say that something holds, or end."""
    if not holds:
        sys.exit(f"  ✗ {what}")
    print(f"  ✓ {what}")


if __name__ == "__main__":
    asyncio.run(main())
