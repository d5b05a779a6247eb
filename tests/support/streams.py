"""Readers of streams that keep every frame of every stream, and resume as a client does."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import cycle
from types import TracebackType
from typing import Any, Self

import grpc
from google.protobuf.duration_pb2 import Duration
from grpc import aio

from factories import texts_of
from lockstitch.v1 import commit_pb2
from lockstitch.v1.session_service_pb2_grpc import SessionServiceStub
from lockstitch.v1.subscription_pb2 import SubscribeRequest, SubscribeResponse
from support.rpc import Refusal, taken_apart
from support.waiting import POLL_SECONDS, until

FRAME_BYTES_MAX = 4 * 1024 * 1024 - 64 * 1024
CHANNEL_OPTIONS = (
    # A reader has a connection of its own, which can be cut without cutting others'.
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.min_reconnect_backoff_ms", 1000),
    ("grpc.max_reconnect_backoff_ms", 200),
)
_BOOKMARKS = ("caught_up", "fell_behind", "heartbeat", "draining")
_COMES_AGAIN = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.CANCELLED}


@dataclass
class StreamRecord:
    """One stream, from its opening to its end."""

    reader: str
    after_version: int
    roles: frozenset[int] = frozenset()
    frames: list[SubscribeResponse] = field(default_factory=list)
    end: Refusal | grpc.StatusCode | None = None
    """How it ended: what a server said, or the bare code of a lost connection; None where the reader left."""

    @property
    def commits(self) -> list[commit_pb2.Commit]:
        return [frame.commit for frame in self.frames if frame.HasField("commit")]

    @property
    def versions(self) -> list[int]:
        return [commit.version for commit in self.commits]

    @property
    def kinds(self) -> list[str]:
        return [kind_of(frame) for frame in self.frames]

    @property
    def cursor(self) -> int:
        """Where to resume: what was given last, or what it began behind."""
        for frame in reversed(self.frames):
            version = version_of(frame)
            if version is not None:
                return version
        return self.after_version


def kind_of(frame: SubscribeResponse) -> str:
    return str(frame.WhichOneof("frame"))


def bookmark_of(frame: SubscribeResponse) -> int | None:
    """The version up to which a frame says that nothing follows."""
    kind = kind_of(frame)
    return getattr(frame, kind).version if kind in _BOOKMARKS else None


def version_of(frame: SubscribeResponse) -> int | None:
    """The version that a reader may resume from after a frame."""
    return frame.commit.version if frame.HasField("commit") else bookmark_of(frame)


def span(seconds: float) -> Duration:
    duration = Duration()
    duration.FromTimedelta(timedelta(seconds=seconds))
    return duration


class Reader:
    """Follows one session. `async with Reader(...)` reads in the background, again and again from where it was."""

    def __init__(
        self,
        targets: Sequence[str],
        token: str,
        session_id: str,
        *,
        name: str = "reader",
        options: Sequence[tuple[str, Any]] = (),
        resume: bool = True,
        **asked: Any,
    ) -> None:
        """`asked` are the request's other fields; with `resume` off it follows one stream only."""
        self.name = name
        self.streams: list[StreamRecord] = []
        self._token = token
        self._asked: dict[str, Any] = {"session_id": session_id, "heartbeat_interval": span(1)} | asked
        self._channels = [aio.insecure_channel(target, options=[*CHANNEL_OPTIONS, *options]) for target in targets]
        self._next_channel = cycle(self._channels)
        self._resume = resume
        self._call: Any = None
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._follow(), name=self.name)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        for channel in self._channels:
            await channel.close()

    @property
    def stream(self) -> StreamRecord:
        """The stream that is read now, or was last."""
        return self.streams[-1] if self.streams else StreamRecord(self.name, self.cursor)

    @property
    def cursor(self) -> int:
        return self.streams[-1].cursor if self.streams else int(self._asked.get("after_version", 0))

    @property
    def commits(self) -> list[commit_pb2.Commit]:
        """The commits of all streams, joined."""
        return [commit for stream in self.streams for commit in stream.commits]

    @property
    def versions(self) -> list[int]:
        return [commit.version for commit in self.commits]

    @property
    def texts(self) -> list[str]:
        """The texts of all messages given, each message's joined."""
        return texts_of(message for commit in self.commits for message in commit.messages)

    async def until(self, condition: Callable[[], bool], what: str, seconds: float = 30) -> None:
        """Wait for something, but not longer than this reader reads."""
        task = self._task
        await until(lambda: condition() or task is None or task.done(), f"{self.name}: {what}", seconds)
        if task is not None and task.done() and not task.cancelled():
            task.result()
        assert condition(), f"{self.name} ended before {what}: {self.streams[-1:]}"

    async def reached(self, version: int, seconds: float = 30) -> None:
        """Wait until all up to a version was given or passed over."""
        await self.until(lambda: self.cursor >= version, f"version {version}", seconds)

    async def caught_up(self) -> None:
        """Wait until the stream stands in the present."""
        await self.until(lambda: "caught_up" in self.stream.kinds, "caught_up")

    async def resumed(self, streams: int) -> None:
        """Wait until it opened more than so many streams."""
        await self.until(lambda: len(self.streams) > streams, "another stream")

    async def ended(self, seconds: float = 30) -> StreamRecord:
        """Wait until a stream that is not resumed has ended, and give it."""
        task = self._task
        await until(lambda: task is not None and task.done(), f"{self.name}'s end", seconds)
        if task is not None:
            task.result()
        return self.stream

    def leave(self) -> None:
        """Cancel the stream; it is resumed at once."""
        if self._call is not None:
            self._call.cancel()

    async def _follow(self) -> None:
        while True:
            await self._read_one()
            if not self._resume:
                return
            await asyncio.sleep(POLL_SECONDS)

    async def _read_one(self) -> None:
        asked = self._asked | {"after_version": self.cursor}
        record = StreamRecord(self.name, self.cursor, frozenset(asked.get("roles", ())))
        self.streams.append(record)
        self._call = call = subscribe(next(self._next_channel), self._token, **asked)
        try:
            async for frame in call:
                assert frame.ByteSize() <= FRAME_BYTES_MAX
                record.frames.append(frame)
        except aio.AioRpcError as error:
            record.end = taken_apart(error) if _has_details(error) else error.code()
            if self._resume and error.code() not in _COMES_AGAIN:
                raise
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise


def subscribe(channel: aio.Channel, token: str, **asked: Any) -> Any:
    """Open a stream, with nothing between it and the wire."""
    stub: Any = SessionServiceStub(channel)
    return stub.Subscribe(SubscribeRequest(**asked), metadata=[("authorization", f"Bearer {token}")])


def _has_details(error: aio.AioRpcError) -> bool:
    return "grpc-status-details-bin" in dict(error.trailing_metadata() or ())
