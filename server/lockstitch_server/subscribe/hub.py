"""The hub: which sessions are subscribed to in this process, and their feeds, woken by commits of any process."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from datetime import timedelta

import structlog

from lockstitch_server.errors import LockstitchError
from lockstitch_server.model import Commit, SessionKey, SessionRef
from lockstitch_server.store.log import Log
from lockstitch_server.subscribe.feed import Feed, Window
from lockstitch_server.subscribe.wake_ups import WakeUps

_PAGE_COMMITS = 100
_PAGE_BYTES = 3 * 1024 * 1024
_VERSION_MAX = 2**63 - 1
_READERS_MAX = 4
_log = structlog.get_logger(__name__)


class Hub:
    """Wakes the streams of this process.

    A feed is moved on by commits of this process, by wake-ups of other ones, and by a look at all subscribed sessions
    at once every `poll_interval`, which bounds the delay where a wake-up was lost.
    """

    def __init__(self, log: Log, wake_ups: WakeUps, *, poll_interval: timedelta) -> None:
        """Nothing runs before `running`."""
        self._log = log
        self._wake_ups = wake_ups
        self._poll_seconds = poll_interval.total_seconds()
        self._feeds: dict[SessionKey, Feed] = {}
        self._readers = asyncio.Semaphore(_READERS_MAX)
        self._tasks: set[asyncio.Task[None]] = set()
        self.draining = False

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Listen for wake-ups and look after lost ones, until the context ends."""
        self._wake_ups.start(self._wake)
        poll = asyncio.create_task(self._poll_forever(), name="subscription poll")
        try:
            yield
        finally:
            for task in (poll, *self._tasks):
                task.cancel()
            await asyncio.gather(poll, *self._tasks, return_exceptions=True)
            await self._wake_ups.stop()

    def drain(self) -> None:
        """Have every stream say that this server goes away, and end."""
        self.draining = True
        for feed in self._feeds.values():
            for window in feed.windows:
                window.wake()

    def committed(self, key: SessionKey, commit: Commit | None) -> None:
        """Pass on a commit of this process; None where it has to be read to be known."""
        feed = self._feeds.get(key)
        if feed is not None and (commit is None or feed.reading or not feed.give(commit)):
            self._wake(key)
        self._wake_ups.announce(key)

    @contextmanager
    def subscribed(self, ref: SessionRef, version: int, wake: Callable[[], None]) -> Iterator[Window]:
        """Be given a session's commits behind the window's head; `version` is the session's as the caller saw it."""
        feed = self._feeds.get(ref.key)
        if feed is None:
            # Whoever subscribes was authorised by itself; the feed is read for all of them.
            feed = self._feeds[ref.key] = Feed(replace(ref, owner=None), version)
        window = Window(max(feed.head, version), wake)
        feed.windows.add(window)
        if feed.head < version:
            self._wake(ref.key)
        try:
            yield window
        finally:
            feed.windows.discard(window)
            if not feed.windows:
                self._feeds.pop(ref.key, None)

    async def read(self, ref: SessionRef, after_version: int) -> tuple[Commit, ...]:
        """Read a page of the log behind a version; few read at a time, so that writers keep their connections."""
        async with self._readers:
            page = await self._log.list_commits(
                ref,
                after_version=after_version,
                before_version=_VERSION_MAX,
                descending=False,
                limit=_PAGE_COMMITS,
                bytes_max=_PAGE_BYTES,
            )
        return () if page is None else page.commits

    def _wake(self, key: SessionKey) -> None:
        feed = self._feeds.get(key)
        if feed is None:
            return
        feed.woken = True
        if not feed.reading:
            feed.reading = True
            task = asyncio.create_task(self._read(feed), name="feed")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _read(self, feed: Feed) -> None:
        try:
            while feed.woken:
                feed.woken = False
                await feed.read(self.read)
        except LockstitchError as error:
            # The next poll reads it again.
            _log.warning("a feed could not be read", reason=error.reason)
        finally:
            feed.reading = False

    async def _poll_forever(self) -> None:
        while True:
            await asyncio.sleep(self._poll_seconds)
            feeds = dict(self._feeds)
            if not feeds:
                continue
            try:
                versions = await self._log.versions([feed.ref for feed in feeds.values()])
            except LockstitchError as error:
                _log.warning("subscribed sessions could not be looked at", reason=error.reason)
                continue
            for key, version in versions.items():
                if version > feeds[key].head:
                    self._wake(key)
