"""An open subscription, read frame by frame."""

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Self

from grpc import aio

from lockstitch.v1.commit_pb2 import Commit
from lockstitch_conformance.refusals import Refusal, refused
from lockstitch_conformance.suite import Broken, same

FRAME_SECONDS_MAX = 15.0


class Stream:
    """The frames of a subscription, in the order in which they came."""

    def __init__(self, call: Any) -> None:
        self._call = call
        self.frames: list[Any] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._call.cancel()

    async def frame(self) -> Any:
        """Read the next frame."""
        try:
            frame = await asyncio.wait_for(self._call.read(), FRAME_SECONDS_MAX)
        except TimeoutError:
            raise Broken(f"no frame came within {FRAME_SECONDS_MAX:.0f} s; {self._told()}") from None
        if frame is aio.EOF:
            raise Broken(f"the stream ended without a reason; {self._told()}")
        self.frames.append(frame)
        return frame

    async def until(self, is_it: Callable[[Any], bool]) -> Any:
        """Read up to a frame that is it."""
        while True:
            frame = await self.frame()
            if is_it(frame):
                return frame

    async def up_to(self, version: int) -> list[Commit]:
        """Read up to this version, by a commit or by a word that all up to it was given; the commits so far."""
        await self.until(lambda frame: reached(frame) >= version)
        return self.commits

    async def commit(self) -> Commit:
        """Read up to the next commit."""
        commit: Commit = (await self.until(lambda frame: frame.WhichOneof("frame") == "commit")).commit
        return commit

    async def refused(self, reason: str, **metadata: Any) -> Refusal:
        """Read up to the stream's end, which must have this reason."""
        return await refused(self._end(), reason, **metadata)

    @property
    def commits(self) -> list[Commit]:
        return [frame.commit for frame in self.frames if frame.WhichOneof("frame") == "commit"]

    @property
    def versions(self) -> list[int]:
        return [commit.version for commit in self.commits]

    def follows_from(self, after_version: int) -> None:
        """Break where the commits so far are not all behind a version, once each and in order."""
        wanted = list(range(after_version + 1, after_version + 1 + len(self.versions)))
        same(self.versions, wanted, f"the commits behind {after_version}")

    def _end(self) -> Awaitable[Any]:
        async def read_on() -> None:
            await self.until(lambda _: False)

        return read_on()

    def _told(self) -> str:
        return f"before it came {[frame.WhichOneof('frame') for frame in self.frames][-10:]}"


def reached(frame: Any) -> int:
    """How far a frame says that the stream is; 0 where it says nothing of it."""
    kind = frame.WhichOneof("frame")
    return 0 if kind in {"opened", "draft", None} else int(getattr(frame, kind).version)
