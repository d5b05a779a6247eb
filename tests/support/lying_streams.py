"""Middlemen that each break one guarantee of a stream, quietly."""

from collections.abc import AsyncIterator
from typing import Any

from lockstitch.v1.subscription_pb2 import SubscribeResponse
from support.middleman import Middleman


class LosesACommit(Middleman):
    """A stream leaves out the third commit."""

    async def frames(self, frames: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async for frame in frames:
            if frame.commit.version != 3:
                yield frame


class DoublesACommit(Middleman):
    """A stream gives the third commit twice."""

    async def frames(self, frames: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async for frame in frames:
            yield frame
            if frame.commit.version == 3:
                yield frame


class SplitsACommit(Middleman):
    """A stream gives each message of a commit by itself."""

    async def frames(self, frames: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async for frame in frames:
            messages = list(frame.commit.messages)
            if len(messages) < 2:
                yield frame
                continue
            for message in messages:
                part = SubscribeResponse()
                part.CopyFrom(frame)
                del part.commit.messages[:]
                part.commit.messages.append(message)
                yield part


class BeatsAhead(Middleman):
    """Heartbeats tell a version that is yet to come."""

    async def frames(self, frames: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async for frame in frames:
            if frame.WhichOneof("frame") == "heartbeat":
                frame.heartbeat.version += 1
            yield frame
