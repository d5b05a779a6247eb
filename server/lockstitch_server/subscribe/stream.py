"""A stream: what one subscriber is given, in order, whole, once."""

import asyncio
import secrets
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from datetime import timedelta

from lockstitch_server.errors import (
    CursorAhead,
    DatabaseUnavailable,
    Overloaded,
    SessionNotFound,
    StoreRestored,
    TokenExpired,
)
from lockstitch_server.model import SessionRef, StoreIdentity
from lockstitch_server.store.reader import Reader, SessionParts
from lockstitch_server.subscribe.feed import LiveCommit, Window
from lockstitch_server.subscribe.hub import Hub

_RETRY_SECONDS = 0.5
_RECONNECT_MILLISECONDS_MAX = 3000


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


Event = Opened | LiveCommit | CaughtUp | FellBehind | Heartbeat | GoingAway


@dataclass(frozen=True, slots=True)
class Subscription:
    """What a subscriber asks for."""

    ref: SessionRef
    after_version: int
    store_epoch: str
    heartbeat_interval: timedelta
    expires: float
    """When the caller's token ends, by the server's clock, in seconds."""


class Streams:
    """Makes streams."""

    def __init__(self, hub: Hub, reader: Reader, identity: StoreIdentity) -> None:
        """The reader says whether a session is there for the caller, and at which version."""
        self._hub = hub
        self._reader = reader
        self._identity = identity

    async def events(self, asked: Subscription) -> AsyncGenerator[Event, None]:
        """Give what happened behind a version, then what happens, for as long as it is asked for.

        Raises SessionNotFound, CursorAhead, StoreRestored; later TokenExpired.
        """
        if asked.store_epoch and asked.store_epoch != self._identity.store_epoch:
            raise StoreRestored(self._identity.store_epoch)
        view = await self._reader.get_session(asked.ref, SessionParts())
        if view is None:
            raise SessionNotFound
        version = view.session.version
        if asked.after_version > version:
            raise CursorAhead(version, "after_version")
        woken = asyncio.Event()
        with self._hub.subscribed(asked.ref, version, woken.set) as window:
            yield Opened(version)
            async with aclosing(self._follow(asked, window, woken)) as events:
                async for event in events:
                    yield event

    async def _follow(self, asked: Subscription, window: Window, woken: asyncio.Event) -> AsyncGenerator[Event, None]:
        cursor = asked.after_version
        # To begin with the stream stands behind, without having fallen.
        present = False
        while not self._hub.draining:
            woken.clear()
            for live in window.take(cursor):
                cursor = live.commit.version
                yield live
            if present and window.overrun:
                present = False
                yield FellBehind(cursor)
            if cursor < window.head:
                for live in await self._read(asked.ref, cursor):
                    cursor = live.commit.version
                    yield live
                continue
            window.overrun = False
            if not present:
                present = True
                yield CaughtUp(cursor)
            if not await _within(woken, self._patience(asked)):
                if time.time() >= asked.expires:
                    raise TokenExpired
                yield Heartbeat(cursor)
        reconnect_after = timedelta(milliseconds=secrets.randbelow(_RECONNECT_MILLISECONDS_MAX))
        yield GoingAway(cursor, reconnect_after)

    async def _read(self, ref: SessionRef, cursor: int) -> list[LiveCommit]:
        try:
            return [LiveCommit(commit) for commit in await self._hub.read(ref, cursor)]
        except (DatabaseUnavailable, Overloaded):
            # The log is there again when the database is.
            await asyncio.sleep(_RETRY_SECONDS)
            return []

    def _patience(self, asked: Subscription) -> float:
        return min(asked.heartbeat_interval.total_seconds(), max(0.0, asked.expires - time.time()))


async def _within(event: asyncio.Event, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True
