"""Wake-ups: processes tell each other which sessions were committed to or are drafted in, gathered, on any bus."""

import asyncio
import contextlib
import secrets
from collections.abc import Callable
from datetime import timedelta
from enum import IntEnum
from uuid import UUID

import structlog

from lockstitch_server import failpoints, tasks
from lockstitch_server.bus import Bus, BusLostError
from lockstitch_server.model import SessionKey

INTERVAL = timedelta(milliseconds=20)
"""How long announcements are gathered before they are sent in one: rare enough to cost writers nothing."""

PING_INTERVAL = timedelta(seconds=5)
"""How long a quiet connection is trusted."""

RECONNECT_INTERVAL = timedelta(milliseconds=200)

FLUSH_MAX = timedelta(seconds=2)
"""How long stopping waits for the last announcements to be sent."""

NEWS_MAX = 100_000
"""How many announcements wait while the bus is lost; by then polls have found those that are let go."""

_NEWS_BYTES = 17
"""What there is, in a byte, and the session's key."""

_SENDER_BYTES = 8
_log = structlog.get_logger(__name__)


class News(IntEnum):
    """What there is to be read of a session: each is read by a statement of its own, and only where it is new."""

    COMMIT = 0
    DRAFT = 1


class WakeUps:
    """Announces what this process stored, hears what others did. Losing one costs a delay: the store is the truth."""

    def __init__(self, bus: Bus) -> None:
        """Nothing is opened before `start`."""
        self._bus = bus
        self._sender = secrets.token_bytes(_SENDER_BYTES)
        self._news: set[tuple[News, SessionKey]] = set()
        self._some = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        # As if there had been one, so that the first failure is told, too.
        self._connected = True
        self._stopping = False
        self._heard: Callable[[SessionKey, News], None] = lambda _, __: None

    def start(self, heard: Callable[[SessionKey, News], None]) -> None:
        """Begin; `heard` is called in the event loop for each session that another process announced."""
        self._heard = heard
        self._task = asyncio.create_task(self._run(), name="wake-ups")

    def announce(self, key: SessionKey, news: News) -> None:
        """Say soon that there is something of a session, once however often that is meanwhile. Never waits."""
        if len(self._news) < NEWS_MAX:
            self._news.add((news, key))
        self._some.set()

    async def stop(self) -> None:
        """Send what was announced and not sent yet, if that can be done now, and let the bus go."""
        self._stopping = True
        self._some.set()
        if self._task is not None:
            if self._connected:
                await asyncio.wait([self._task], timeout=FLUSH_MAX.total_seconds())
            await tasks.ended(self._task)
        await self._bus.close()

    async def _run(self) -> None:
        while not self._stopping:
            try:
                await self._bus.connect(self._hear)
                self._connected = True
                await self._serve()
            except BusLostError:
                if self._connected:
                    _log.warning("the bus for wake-ups was lost: streams look for commits by themselves meanwhile")
                self._connected = False
                await self._bus.close()
                await asyncio.sleep(RECONNECT_INTERVAL.total_seconds())

    async def _serve(self) -> None:
        """Send what is announced, and a ping where nothing is, until nothing will be announced any more."""
        while True:
            await self._send()
            if self._stopping and not self._news:
                return
            await asyncio.sleep(INTERVAL.total_seconds())
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(PING_INTERVAL.total_seconds()):
                    await self._some.wait()

    async def _send(self) -> None:
        """Send what waits: who sends, then the news. An empty payload shows that the bus is there."""
        self._some.clear()
        waiting, self._news = sorted(self._news), set()
        step = (self._bus.payload_bytes_max - _SENDER_BYTES) // _NEWS_BYTES
        for start in range(0, max(len(waiting), 1), step):
            sent = (bytes((news,)) + key.bytes for news, key in waiting[start : start + step])
            payload = self._sender + b"".join(sent)
            try:
                if failpoints.folder is not None and waiting:
                    await failpoints.reached("before_wake_up", lost=BusLostError)
                await self._bus.send(payload)
            except BaseException:
                self._news.update(waiting[start:])
                raise

    def _hear(self, payload: bytes) -> None:
        if payload[:_SENDER_BYTES] == self._sender:
            return
        for start in range(_SENDER_BYTES, len(payload) - _NEWS_BYTES + 1, _NEWS_BYTES):
            # Anybody who may connect can say anything: what is no news wakes nobody.
            with contextlib.suppress(ValueError):
                news = News(payload[start])
                self._heard(SessionKey(UUID(bytes=payload[start + 1 : start + _NEWS_BYTES])), news)
