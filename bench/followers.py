"""Readers that follow sessions live, and count what they are given."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from itertools import count

from lockstitch import Client, SessionHandle
from lockstitch_server.server_process import ServerProcess

SECONDS_MAX = 120.0
_numbers = count(1)


class Followers:
    """What so many streams were given, together."""

    def __init__(self) -> None:
        """Use `followed`."""
        self.live = 0
        self.delivered = 0
        self.last_at = 0.0
        """When the last of those waited for came."""
        self._awaited = 0
        self._reached = asyncio.Event()
        self._caught_up = asyncio.Event()

    async def have(self, delivered: int) -> None:
        """Wait until so many commits were delivered since the beginning."""
        self._awaited = delivered
        self._reached.clear()
        if self.delivered < delivered:
            async with asyncio.timeout(SECONDS_MAX):
                await self._reached.wait()

    async def are_live(self, streams: int) -> None:
        """Wait until so many streams have caught up."""
        async with asyncio.timeout(SECONDS_MAX):
            while self.live < streams:
                self._caught_up.clear()
                await self._caught_up.wait()

    async def follow(self, session: SessionHandle) -> None:
        """Follow a session from where its handle stands."""
        async for frame in session.frames():
            if frame.HasField("commit"):
                self.delivered += 1
                self.last_at = time.perf_counter()
                if self.delivered == self._awaited:
                    self._reached.set()
            elif frame.HasField("caught_up"):
                self.live += 1
                self._caught_up.set()


@asynccontextmanager
async def followed(server: ServerProcess, session_ids: Iterable[str], *, streams: int = 1) -> AsyncIterator[Followers]:
    """Follow each session on so many streams, over one connection; all are live when the context begins."""
    followers = Followers()
    # Somebody else each time: a subject may have 1,000 streams, and those before may not be over yet.
    token = server.token(tenant="bench", user=f"reader-{next(_numbers)}")
    async with Client(server.target, token=token) as client:
        sessions = [await client.get(session_id) for session_id in session_ids]
        tasks = [asyncio.create_task(followers.follow(session)) for session in sessions for _ in range(streams)]
        try:
            await followers.are_live(len(tasks))
            yield followers
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
