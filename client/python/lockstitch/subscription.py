"""A subscription: one session followed over as many streams as it takes, each from where the last one ended."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from typing import Self

from lockstitch import retries
from lockstitch.errors import Cancelled, LockstitchError, SlowConsumer, SubscriptionLimit, TokenExpired, Unavailable
from lockstitch.streams import Stream
from lockstitch.transport import Transport
from lockstitch.v1.subscription_pb2 import SubscribeRequest, SubscribeResponse

SILENT_INTERVALS = 2.5
"""A stream that is silent for so many heartbeats has lost its network without a word."""

REFUSALS_MAX = 3
"""How many attempts in a row may end before their first frame, for a reason that a further one may or may not mend."""


class Subscription:
    """Gives frames in order, each commit once, and resumes after whatever a further attempt can mend.

    The request is kept up to date: it is what the next attempt sends. Nothing runs but whoever waits in :meth:`next`.
    """

    def __init__(self, transport: Transport, request: SubscribeRequest, *, timeout: timedelta | None) -> None:
        self._transport = transport
        self._request = request
        self._silence_seconds = request.heartbeat_interval.ToTimedelta().total_seconds() * SILENT_INTERVALS
        self._opening_seconds = transport.timeout_seconds if timeout is None else timeout.total_seconds()
        self._first_opening_ends = asyncio.get_running_loop().time() + self._opening_seconds
        self._stream: Stream[SubscribeResponse] | None = None
        self._wait_seconds = 0.0
        self._waits: Iterator[float] | None = None
        self._refusals = 0
        self._is_open = False
        self._was_open = False

    @property
    def is_whole(self) -> bool:
        """Whether all commits are given, and all of each."""
        return not self._request.roles

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    async def next(self) -> SubscribeResponse:
        """The next frame. Raises what no further attempt can mend."""
        while True:
            try:
                frame = await self._read()
            except TimeoutError as silence:
                self._lost(Unavailable("The server was silent for longer than its heartbeats."), silence)
            except LockstitchError as error:
                self._lost(error, error.__cause__)
            else:
                if frame is None:
                    self._lost(Unavailable("The stream ended without a reason."), None)
                elif self._moves_on(frame):
                    return frame

    async def _read(self) -> SubscribeResponse | None:
        if self._stream is None:
            self._is_open = False
            await asyncio.sleep(self._wait_seconds)
            self._refuse_closed()
            self._stream = await self._transport.open(lambda to: to.sessions.Subscribe, self._request)
        seconds = self._silence_seconds if self._is_open else self._opening_seconds
        return await self._stream.read(within_seconds=seconds)

    def _moves_on(self, frame: SubscribeResponse) -> bool:
        """Notes how far the stream is; False for a frame that is nobody's business, such as a commit given before."""
        self._is_open = self._was_open = True
        self._refusals = 0
        kind = frame.WhichOneof("frame")
        if kind == "opened":
            # Not yet a reason to begin with short waits again: a server may open streams and lose them at once.
            self._request.store_epoch = frame.opened.store_epoch
            return True
        self._waits = None
        if kind == "commit":
            if frame.commit.version <= self._request.after_version:
                return False
            self._request.after_version = frame.commit.version
        elif kind == "caught_up":
            self._request.after_version = frame.caught_up.version
        elif kind == "fell_behind":
            self._request.after_version = frame.fell_behind.version
        elif kind == "heartbeat":
            self._request.after_version = frame.heartbeat.version
        elif kind == "draining":
            self._request.after_version = frame.draining.version
            self._wait_seconds = frame.draining.reconnect_after.ToTimedelta().total_seconds()
            self._end()
        return kind is not None

    def _lost(self, error: LockstitchError, cause: BaseException | None) -> None:
        """Makes ready for another attempt, or raises the error if that would be in vain."""
        self._end()
        self._refuse_closed()
        if not self._may_be_mended(error):
            raise error from cause
        self._waits = self._waits or retries.resume_waits()
        after = error.retry_after or timedelta()
        self._wait_seconds = max(next(self._waits), after.total_seconds())
        now = asyncio.get_running_loop().time()
        if not self._was_open and now + self._wait_seconds >= self._first_opening_ends:
            raise error from cause

    def _may_be_mended(self, error: LockstitchError) -> bool:
        if isinstance(error, Unavailable | SlowConsumer):
            return True
        if isinstance(error, SubscriptionLimit):
            # The place may be taken by our own stream, of which the server does not know yet that it is dead.
            return self._was_open
        if isinstance(error, TokenExpired) or retries.is_cut(error):
            self._refusals += 1
            return self._refusals < REFUSALS_MAX
        return False

    def _refuse_closed(self) -> None:
        if self._transport.is_closed:
            raise Cancelled("The client was closed during the subscription.")

    def _end(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.cancel()
