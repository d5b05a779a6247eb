"""A TCP proxy that fails as networks do: it cuts, stalls, falls silent on one side, and delays."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Literal, TypeAlias

from support import http2

_CHUNK_BYTES = 64 * 1024
Pipe: TypeAlias = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Dial: TypeAlias = Callable[[], Awaitable[Pipe]]
Side: TypeAlias = Literal["near", "far"]
"""Near is who connects to the proxy, far is whom it dials."""


class Proxy:
    """Stands between two sides of connections."""

    def __init__(self, dial: Dial, only: bytes = b"", *, of_grpc: bool = False) -> None:
        self._dial = dial
        self._only = only
        self._of_grpc = of_grpc
        self._pairs: set[tuple[asyncio.StreamWriter, asyncio.StreamWriter]] = set()
        self._serving: set[asyncio.Task[None]] = set()
        self._flows: dict[Side, asyncio.Event] = {"near": asyncio.Event(), "far": asyncio.Event()}
        """What comes from a side flows while its event is set."""
        self._kept: list[asyncio.StreamWriter] = []
        self.refuses = False
        """Whether new connections are closed at once."""
        self.delay_seconds = 0.0
        """How long each chunk is held."""
        self.held_up = 0
        """How many chunks came to a side that is stalled."""
        self.port = 0
        self._replies_to_lose = 0
        self._dead: set[asyncio.StreamWriter] = set()
        self.restore()

    @property
    def target(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def connections(self) -> int:
        return len(self._pairs)

    def cut(self, *, refuse: bool = False) -> None:
        """Reset all connections; with `refuse`, new ones too until `restore`."""
        self.refuses = refuse
        for pair in list(self._pairs):
            for writer in pair:
                writer.transport.abort()

    def stall(self, *sides: Side) -> None:
        """Let nothing through any more that comes from a side, on old and new connections; nobody is told.

        Without a side, from neither. What was held up goes on its way with `restore`, as TCP would send it again.
        """
        for side in sides or self._flows:
            self._flows[side].clear()

    def lose_replies(self, count: int = 1) -> None:
        """Reset the connection, each time, when the next reply would go through: its request was answered by then.

        A reply begins with the first HEADERS frame that the far side sends.
        """
        self._replies_to_lose = count

    @property
    def replies_to_lose(self) -> int:
        return self._replies_to_lose

    def freeze(self) -> None:
        """Let nothing through any more on the connections that there are; nobody is told. New ones work."""
        for pair in self._pairs:
            self._dead.update(pair)

    def half_open(self, lost: Side = "near") -> None:
        """Drop one side of all connections; the other one is not told, and hears nothing any more."""
        for near, far in list(self._pairs):
            kept, dropped = (far, near) if lost == "near" else (near, far)
            self._kept.append(kept)
            self._pairs.discard((near, far))
            dropped.transport.abort()

    def let_go(self) -> None:
        """Reset the sides that `half_open` left, as TCP does once one of them asks whether the other is there."""
        for writer in self._kept:
            writer.transport.abort()

    def restore(self) -> None:
        """Be a good network again."""
        self.refuses = False
        self.delay_seconds = 0.0
        for flows in self._flows.values():
            flows.set()

    def serve(self, near_in: asyncio.StreamReader, near_out: asyncio.StreamWriter) -> None:
        """Take a connection."""
        task = asyncio.create_task(self._serve(near_in, near_out), name="proxied")
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def close(self) -> None:
        """Reset everything."""
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)
        for writer in self._kept:
            await _reset(writer)

    async def _serve(self, near_in: asyncio.StreamReader, near_out: asyncio.StreamWriter) -> None:
        first = await near_in.read(_CHUNK_BYTES) if self._only else b""
        faulty = self._only in first
        if faulty and self.refuses:
            await _reset(near_out)
            return
        try:
            far_in, far_out = await self._dial()
        except OSError:
            await _reset(near_out)
            return
        pair = (near_out, far_out)
        if faulty:
            self._pairs.add(pair)
        if faulty:
            replies = http2.Frames() if self._of_grpc else None
            ways = [self._carry("near", near_in, far_out, first), self._carry("far", far_in, near_out, b"", replies)]
        else:
            ways = [_carry_safely(near_in, far_out, first), _carry_safely(far_in, near_out, b"")]
        carrying = [asyncio.create_task(way) for way in ways]
        try:
            await asyncio.wait(carrying, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in carrying:
                way.cancel()
            self._pairs.discard(pair)
            self._dead.difference_update(pair)
            await asyncio.gather(*carrying, return_exceptions=True)
            for side in pair:
                if side not in self._kept:
                    await _reset(side)

    async def _carry(
        self,
        side: Side,
        source: asyncio.StreamReader,
        sink: asyncio.StreamWriter,
        first: bytes,
        replies: http2.Frames | None = None,
    ) -> None:
        with suppress(OSError):
            chunk = first or await source.read(_CHUNK_BYTES)
            while chunk:
                if not self._flows[side].is_set():
                    self.held_up += 1
                    await self._flows[side].wait()
                if sink in self._dead:
                    await asyncio.Event().wait()
                if self.delay_seconds:
                    await asyncio.sleep(self.delay_seconds)
                for frame_type, frame in [(None, chunk)] if replies is None else replies.feed(chunk):
                    if frame_type == http2.HEADERS and self._replies_to_lose:
                        self._replies_to_lose -= 1
                        return
                    sink.write(frame)
                await sink.drain()
                chunk = await source.read(_CHUNK_BYTES)


async def _carry_safely(source: asyncio.StreamReader, sink: asyncio.StreamWriter, first: bytes) -> None:
    with suppress(OSError):
        chunk = first or await source.read(_CHUNK_BYTES)
        while chunk:
            sink.write(chunk)
            await sink.drain()
            chunk = await source.read(_CHUNK_BYTES)


async def _reset(writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()
    with suppress(OSError):
        await writer.wait_closed()


@asynccontextmanager
async def proxy_to(dial: Dial, *, only: bytes = b"", of_grpc: bool = False) -> AsyncIterator[Proxy]:
    """Stand before what `dial` reaches, on a free port of loopback.

    With `only`, faults befall none but connections whose first bytes hold these. `of_grpc` is needed to lose replies.
    """
    proxy = Proxy(dial, only, of_grpc=of_grpc)
    serving = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    try:
        proxy.port = serving.sockets[0].getsockname()[1]
        yield proxy
    finally:
        serving.close()
        await proxy.close()


def to_tcp(target: str) -> Dial:
    """Reach `HOST:PORT`."""
    host, port = target.rsplit(":", 1)
    return lambda: asyncio.open_connection(host, int(port))


def to_socket(path: str) -> Dial:
    """Reach a socket in the file system."""
    return lambda: asyncio.open_unix_connection(path)
