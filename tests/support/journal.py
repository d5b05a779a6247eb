"""What writers asked for and what they were told, recorded by themselves: what streams are held against."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import TypeAlias

import grpc
from grpc import aio

from factories import USER, fresh
from lockstitch.v1 import message_pb2
from lockstitch.v1 import session_service_pb2 as pb
from support.callers import Caller
from support.waiting import POLL_SECONDS

Role: TypeAlias = message_pb2.Role.ValueType
_COMES_AGAIN = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED}
_ATTEMPT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Said:
    """A message as its writer knows it."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A write that its writer was told of."""

    version: int
    first_seq: int
    messages: tuple[Said, ...]


@dataclass
class Journal:
    """One session's writes: those that were begun, and what was acknowledged, by version."""

    begun: set[tuple[Said, ...]] = field(default_factory=set)
    acknowledged: dict[int, Acknowledged] = field(default_factory=dict)

    @property
    def last_version(self) -> int:
        """The newest version that a writer was told of; 1 is the session's creation."""
        return max(self.acknowledged, default=1)

    def begin(self, messages: tuple[Said, ...]) -> None:
        self.begun.add(messages)

    def acknowledge(self, version: int, first_seq: int, messages: tuple[Said, ...]) -> None:
        assert version not in self.acknowledged, f"two writes were told that they made version {version}"
        self.acknowledged[version] = Acknowledged(version, first_seq, messages)


class Writer:
    """Appends to one session, each write until it is acknowledged, by whichever server answers."""

    def __init__(self, callers: Sequence[Caller], session_id: str, journal: Journal) -> None:
        self._callers = cycle(callers)
        self._session_id = session_id
        self._journal = journal

    async def write(self, count: int, *, messages: int = 1, role: Role = USER, padding: str = "") -> None:
        """Make so many commits of so many messages each, one after the other."""
        for _ in range(count):
            await self.append(*(Said(role, fresh("said") + padding) for _ in range(messages)))

    async def write_on(self, stop: asyncio.Event) -> None:
        """Make commits until told to stop, the last one to its end."""
        while not stop.is_set():
            await self.write(1)

    async def append(self, *messages: Said) -> int:
        """Make one commit, and give its version."""
        request = pb.AppendRequest(session_id=self._session_id, request_id=fresh("request"))
        for message in messages:
            request.messages.add(role=message.role, parts=[message_pb2.Part(text=message.text)])
        self._journal.begin(messages)
        while True:
            try:
                answer = await next(self._callers).sessions.Append(request, timeout=_ATTEMPT_SECONDS)
            except aio.AioRpcError as error:
                if error.code() not in _COMES_AGAIN:
                    raise
                await asyncio.sleep(_told_to_wait(error))
            else:
                receipt = answer.receipt
                self._journal.acknowledge(receipt.version, receipt.first_seq, messages)
                return receipt.version


def _told_to_wait(error: aio.AioRpcError) -> float:
    """How long a server wants a caller to wait, in seconds."""
    pushback = dict(error.trailing_metadata() or ()).get("grpc-retry-pushback-ms")
    return POLL_SECONDS if pushback is None else int(pushback) / 1000
