"""A stream: what one subscriber is given, in order, whole, once."""

import asyncio
import secrets
import time
from collections import deque
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from datetime import timedelta

from lockstitch_server import failpoints
from lockstitch_server.errors import (
    CursorAhead,
    DatabaseUnavailable,
    Overloaded,
    SessionNotFound,
    StoreRestored,
    TokenExpired,
)
from lockstitch_server.model import Commit, MessageRole, Method, SessionRef
from lockstitch_server.store.reader import Reader, SessionParts
from lockstitch_server.subscribe.drafts import Drafted, Reading
from lockstitch_server.subscribe.epoch import StoreEpoch
from lockstitch_server.subscribe.feed import LiveCommit, Window
from lockstitch_server.subscribe.hub import PAGE_BYTES_MAX, Hub

_RETRY_SECONDS = 0.5
_OPENINGS_MAX = 4
_RECONNECT_MILLISECONDS_MAX = 3000
_FIRST_PAGE_BYTES = 64 * 1024
"""Pages of the log begin so small and double while they are taken: one that nobody takes is held in memory."""


@dataclass(frozen=True, slots=True)
class Opened:
    """The stream begins."""

    version: int


@dataclass(frozen=True, slots=True)
class CaughtUp:
    """All that was committed so far was given."""

    version: int


@dataclass(frozen=True, slots=True)
class FellBehind:
    """The stream goes back to the log."""

    version: int


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """Nothing happened."""

    version: int


@dataclass(frozen=True, slots=True)
class GoingAway:
    """The server stops."""

    version: int
    reconnect_after: timedelta


Event = Opened | LiveCommit | Drafted | CaughtUp | FellBehind | Heartbeat | GoingAway


@dataclass(frozen=True, slots=True)
class Subscription:
    """What a subscriber asks for."""

    ref: SessionRef
    after_version: int
    store_epoch: str
    roles: frozenset[MessageRole]
    """Only commits with messages of these roles, and drafts of them; all where there is none."""
    heartbeat_interval: timedelta
    expires: float
    """When the caller's token ends, by the server's clock, in seconds."""

    def shows(self, commit: Commit) -> bool:
        """Whether a commit is given."""
        return not self.roles or any(message.role in self.roles for message in commit.messages)


class Streams:
    """Makes streams."""

    def __init__(self, hub: Hub, reader: Reader, epoch: StoreEpoch) -> None:
        """The reader says whether a session is there for the caller, and at which version."""
        self._hub = hub
        self._reader = reader
        self._epoch = epoch
        # Where all streams of another server come at once they queue here, and leave writers their connections.
        self._openings = asyncio.Semaphore(_OPENINGS_MAX)

    async def events(self, asked: Subscription) -> AsyncGenerator[Event, None]:
        """Give what happened behind a version, then what happens, for as long as it is asked for.

        Raises SessionNotFound, CursorAhead, StoreRestored; later TokenExpired, and those for what happens meanwhile.
        """
        epoch = self._epoch.value
        if asked.store_epoch and asked.store_epoch != epoch:
            raise StoreRestored(epoch)
        woken = asyncio.Event()
        # Listening begins before the version is read, so that no commit falls between the two.
        with self._hub.subscribed(asked.ref, woken.set) as window:
            async with self._openings:
                view = await self._reader.get_session(asked.ref, SessionParts())
            if view is None:
                raise SessionNotFound
            version = view.session.version
            if asked.after_version > version:
                raise CursorAhead(version, "after_version")
            self._hub.seen(asked.ref, window, version)
            yield Opened(version)
            stream = _Stream(self._hub, self._epoch, asked, window, woken)
            try:
                async with aclosing(stream.events()) as events:
                    async for event in events:
                        yield event
                        stream.heard()
            finally:
                stream.ended()


class _Stream:
    """One stream: where it stands, and for how long it has been silent."""

    def __init__(self, hub: Hub, epoch: StoreEpoch, asked: Subscription, window: Window, woken: asyncio.Event) -> None:
        self._hub = hub
        self._epoch = epoch
        self._opened_in = epoch.value
        self._asked = asked
        self._window = window
        self._woken = woken
        self._cursor = asked.after_version
        self._page_bytes = _FIRST_PAGE_BYTES
        self._drafts = Reading(asked.roles)
        self._may_be_deleted = False
        self._alarm: asyncio.TimerHandle | None = None
        self.heard()

    def heard(self) -> None:
        """A frame was taken."""
        self._heartbeat_due = time.monotonic() + self._asked.heartbeat_interval.total_seconds()

    def ended(self) -> None:
        """No frame is asked for any more."""
        if self._alarm is not None:
            self._alarm.cancel()

    async def events(self) -> AsyncGenerator[Event, None]:
        # To begin with the stream stands behind, without having fallen.
        present = False
        while not self._hub.draining:
            self._check()
            self._woken.clear()
            await self._look_after_deletion()
            commits = self._window.take(self._cursor)
            behind = not commits and self._cursor < self._window.head
            if behind and present:
                present = False
                yield FellBehind(self._cursor)
            if behind:
                commits = await self._read()
            if commits:
                for event in self._pass_all(commits):
                    yield event
            elif behind:
                # The log is there again when the database is.
                await asyncio.sleep(min(_RETRY_SECONDS, self._patience()))
            elif not present:
                present = True
                yield await self._handed_over()
            elif (drafted := self._window.drafted(self._drafts, self._cursor)) is not None:
                yield drafted
            else:
                await self._pause()
            if self._silent_for_long():
                yield Heartbeat(self._cursor)
        reconnect_after = timedelta(milliseconds=secrets.randbelow(_RECONNECT_MILLISECONDS_MAX))
        yield GoingAway(self._cursor, reconnect_after)

    async def _handed_over(self) -> CaughtUp:
        """Go on from the log to what is live."""
        if failpoints.folder is not None:
            await failpoints.reached("before_handover", lost=DatabaseUnavailable)
        self._window.overrun = False
        return CaughtUp(self._cursor)

    async def _pause(self) -> None:
        """Wait until something happens, or nothing has for as long as may be."""
        # One timer a silence, not one a commit.
        if self._alarm is None:
            self._alarm = asyncio.get_running_loop().call_later(self._patience(), self._ring)
        await self._woken.wait()

    def _ring(self) -> None:
        self._alarm = None
        self._woken.set()

    def _pass_all(self, commits: deque[LiveCommit]) -> Iterator[Event]:
        while commits and not self._hub.draining:
            event = self._passed(commits.popleft())
            if event is not None:
                yield event

    def _passed(self, live: LiveCommit) -> Event | None:
        """Pass a commit: give it, or say from time to time how far it goes without giving any."""
        self._check()
        self._cursor = live.commit.version
        self._may_be_deleted = self._may_be_deleted or live.commit.method is Method.DELETE_SESSION
        if self._asked.shows(live.commit):
            return live
        return Heartbeat(self._cursor) if self._silent_for_long() else None

    def _check(self) -> None:
        """Raise what ends a stream."""
        if time.time() >= self._asked.expires:
            raise TokenExpired
        if self._epoch.value != self._opened_in:
            raise StoreRestored(self._epoch.value)
        if self._window.is_gone:
            raise SessionNotFound

    async def _look_after_deletion(self) -> None:
        """After a deletion, raise SessionNotFound where it is the last that happened."""
        if not self._may_be_deleted:
            return
        try:
            if await self._hub.is_over(self._asked.ref, self._cursor):
                raise SessionNotFound
            self._may_be_deleted = False
        except (DatabaseUnavailable, Overloaded):
            await asyncio.sleep(min(_RETRY_SECONDS, self._patience()))
            self._woken.set()

    async def _read(self) -> deque[LiveCommit]:
        try:
            commits = await self._hub.read(self._asked.ref, self._cursor, self._page_bytes)
        except (DatabaseUnavailable, Overloaded):
            return deque()
        self._page_bytes = min(2 * self._page_bytes, PAGE_BYTES_MAX)
        return deque(LiveCommit(commit) for commit in commits)

    def _silent_for_long(self) -> bool:
        return time.monotonic() >= self._heartbeat_due

    def _patience(self) -> float:
        """How long nothing may happen."""
        return max(0.0, min(self._heartbeat_due - time.monotonic(), self._asked.expires - time.time()))
