"""The hub: which sessions are subscribed to in this process, and their feeds, woken by what any process stores."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import structlog

from lockstitch_server import failpoints, tasks
from lockstitch_server.errors import DatabaseUnavailable, LockstitchError, SessionNotFound
from lockstitch_server.model import Commit, DraftPiece, SessionKey, SessionRef, SessionStatus
from lockstitch_server.store.drafts import DraftPage, DraftStore
from lockstitch_server.store.log import Log
from lockstitch_server.store.reader import Reader, SessionParts
from lockstitch_server.subscribe.drafts import Room
from lockstitch_server.subscribe.epoch import StoreEpoch
from lockstitch_server.subscribe.feed import Feed, Window
from lockstitch_server.subscribe.wake_ups import News, WakeUps

PAGE_BYTES_MAX = 1024 * 1024
"""A stream that is not taken holds a page of this size, or one larger commit."""
_VERSION_MAX = 2**63 - 1
_READERS_MAX = 4
_log = structlog.get_logger(__name__)


class Hub:
    """Wakes the streams of this process.

    A feed is moved on by what this process stores, by wake-ups of other ones, and by a look at all subscribed sessions
    at once every `poll_interval`, which bounds the delay where a wake-up was lost.
    """

    def __init__(
        self,
        log: Log,
        reader: Reader,
        draft_store: DraftStore,
        wake_ups: WakeUps,
        epoch: StoreEpoch,
        *,
        poll_interval: timedelta,
        page_commits_max: int,
        window_commits_max: int,
    ) -> None:
        """Nothing runs before `running`."""
        self._log = log
        self._reader = reader
        self._draft_store = draft_store
        self._wake_ups = wake_ups
        self._epoch = epoch
        self._poll_seconds = poll_interval.total_seconds()
        self._page_commits_max = page_commits_max
        self._window_commits_max = window_commits_max
        self._feeds: dict[SessionKey, Feed] = {}
        self._room = Room()
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
            await tasks.ended(poll, *self._tasks)
            await self._wake_ups.stop()

    def drain(self) -> None:
        """Have every stream say that this server goes away, and end."""
        self.draining = True
        self._wake_streams()

    def committed(self, key: SessionKey, known: Callable[[], Commit | None]) -> None:
        """Pass on a commit of this process; `known` gives None where it has to be read to be known."""
        feed = self._feeds.get(key)
        if feed is not None:
            commit = None if feed.is_reading_log else known()
            if commit is None or not feed.give(commit):
                self._wake(key, News.COMMIT)
        self._wake_ups.announce(key, News.COMMIT)

    def drafted(self, key: SessionKey, piece: DraftPiece) -> None:
        """Pass on text that this process added to a draft."""
        feed = self._feeds.get(key)
        if feed is not None and feed.drafts.extend(piece):
            feed.wake_streams()
        else:
            self._wake(key, News.DRAFT)
        self._wake_ups.announce(key, News.DRAFT)

    @contextmanager
    def subscribed(self, ref: SessionRef, wake: Callable[[], None]) -> Iterator[Window]:
        """Be given a session's commits behind the window's head, as soon as `seen` says where the session stands."""
        feed = self._feeds.get(ref.key)
        if feed is None:
            # Whoever subscribes is authorised by itself; the feed is read for all of them.
            feed = self._feeds[ref.key] = Feed(replace(ref, owner=None), self._room)
        window = Window(feed, wake, self._window_commits_max)
        feed.windows.add(window)
        try:
            yield window
        finally:
            feed.windows.discard(window)
            if not feed.windows:
                self._feeds.pop(ref.key, None)
                feed.drafts.let_all_go()

    def seen(self, ref: SessionRef, window: Window, version: int) -> None:
        """Take note of the version that a subscriber saw, after it subscribed: what comes behind it is given."""
        feed = self._feeds[ref.key]
        if feed.head is None:
            feed.head = version
            feed.drafts_woken = True
        window.head = max(window.head, feed.head, version)
        feed.woken = feed.woken or feed.head < version
        self._see_to(feed)

    async def read(self, ref: SessionRef, after_version: int, bytes_max: int = PAGE_BYTES_MAX) -> tuple[Commit, ...]:
        """Read a page of the log behind a version; few read at a time, so that writers keep their connections."""
        if failpoints.folder is not None:
            await failpoints.reached("between_pages", lost=DatabaseUnavailable)
        async with self._readers:
            page = await self._log.list_commits(
                ref,
                after_version=after_version,
                before_version=_VERSION_MAX,
                descending=False,
                limit=self._page_commits_max,
                bytes_max=bytes_max,
                # A deletion is the last commit that its streams are given.
                show_deleted=True,
            )
        if page is None:
            raise SessionNotFound
        return page.commits

    async def is_over(self, ref: SessionRef, version: int) -> bool:
        """Whether a session is deleted, and no commit comes behind a version until that is taken back."""
        async with self._readers:
            view = await self._reader.get_session(ref, SessionParts(show_deleted=True))
        if view is None:
            return True
        return view.session.status is SessionStatus.DELETED and view.session.version <= version

    async def _read_drafts(self, ref: SessionRef, known: Mapping[UUID, int]) -> DraftPage:
        async with self._readers:
            page = await self._draft_store.list(ref, known, PAGE_BYTES_MAX)
        if page is None:
            raise SessionNotFound
        return page

    def _wake(self, key: SessionKey, news: News) -> None:
        feed = self._feeds.get(key)
        if feed is None:
            return
        if news is News.COMMIT:
            feed.woken = True
        else:
            feed.drafts_woken = True
        self._see_to(feed)

    def _see_to(self, feed: Feed) -> None:
        """Have it read, where there is something to read."""
        if feed.head is not None and not feed.is_read and (feed.woken or feed.drafts_woken):
            feed.is_read = True
            task = asyncio.create_task(self._read(feed), name="feed")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _read(self, feed: Feed) -> None:
        try:
            while feed.windows and (feed.woken or feed.drafts_woken):
                if feed.woken:
                    feed.woken = False
                    # A page at a time, so that drafts of a busy session have their turn.
                    more = await feed.read(self.read)
                    feed.woken = feed.woken or more
                if feed.drafts_woken:
                    feed.drafts_woken = False
                    await feed.read_drafts(self._read_drafts, self.read)
        except SessionNotFound:
            feed.is_gone = True
            feed.wake_streams()
        except LockstitchError as error:
            # The next poll reads it again.
            _log.warning("a feed could not be read", reason=error.reason)
        finally:
            feed.is_read = False

    async def _poll_forever(self) -> None:
        while True:
            await asyncio.sleep(self._poll_seconds)
            try:
                await self._poll()
            except LockstitchError as error:
                if self._feeds:
                    _log.warning("subscribed sessions could not be looked at", reason=error.reason)
            except Exception:  # noqa: BLE001 - streams rely on the next look, whatever was wrong with this one
                _log.exception("subscribed sessions could not be looked at")

    async def _poll(self) -> None:
        store_epoch = (await self._reader.store_identity()).store_epoch
        if store_epoch != self._epoch.value:
            _log.warning("the store was restored: streams end, and versions are told in its new epoch")
            self._epoch.value = store_epoch
            self._wake_streams()
        feeds = {key: feed for key, feed in self._feeds.items() if feed.head is not None}
        if not feeds:
            return
        found = await self._log.versions([feed.ref for feed in feeds.values()])
        for key, feed in feeds.items():
            # A session that is gone has no version, and its feed finds out.
            version, is_drafting = found.get(key, (_VERSION_MAX, False))
            if version > (feed.head or 0):
                self._wake(key, News.COMMIT)
            if is_drafting or feed.drafts:
                self._wake(key, News.DRAFT)

    def _wake_streams(self) -> None:
        for feed in self._feeds.values():
            feed.wake_streams()
