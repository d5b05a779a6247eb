"""Calls by the generated stubs alone, for measures of single methods: nothing of the client costs on either side."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar

import grpc.aio
from google.protobuf.duration_pb2 import Duration

from lockstitch.v1.run_pb2 import Fence
from lockstitch.v1.run_service_pb2 import StartRunRequest
from lockstitch.v1.run_service_pb2_grpc import RunServiceStub
from lockstitch.v1.session_service_pb2 import AppendRequest, CreateSessionRequest
from lockstitch.v1.session_service_pb2_grpc import SessionServiceStub
from stage import Stage, message

Answer = TypeVar("Answer")
Metadata = tuple[tuple[str, str], ...]

_ATTEMPTS = 20
LEASE = Duration(seconds=3600)
TIMEOUT = 30.0
"""Callers have deadlines; a server gives one to those that have none."""


@dataclass(frozen=True, slots=True)
class Direct:
    """The stubs of one server, and who calls."""

    sessions: SessionServiceStub
    runs: RunServiceStub
    metadata: Metadata

    async def create(self, name: str) -> str:
        """Make an empty session under a name of its own."""
        request = CreateSessionRequest(request_id=name, session_id=name, user_id="bench")
        made = await again(lambda: self.sessions.CreateSession(request, metadata=self.metadata, timeout=TIMEOUT))
        return made.session.session_id

    async def start_run(self, session_id: str) -> Fence:
        """Start a run, and give its fence."""
        request = StartRunRequest(request_id="run", session_id=session_id, lease=LEASE)
        run = (await self.runs.StartRun(request, metadata=self.metadata, timeout=TIMEOUT)).run
        return Fence(run_id=run.run_id, fencing_token=run.fencing_token)

    async def append(self, session_id: str, request_id: str, fence: Fence | None = None) -> object:
        """Append the message that every append stores."""
        request = AppendRequest(request_id=request_id, session_id=session_id, messages=[message()], fence=fence)
        return await again(lambda: self.sessions.Append(request, metadata=self.metadata, timeout=TIMEOUT))


async def again(call: Callable[[], Awaitable[Answer]]) -> Answer:
    """Make a call, again when the server says so: a machine that others use, too, is busy now and then."""
    for _ in range(_ATTEMPTS):
        try:
            return await call()
        except grpc.aio.AioRpcError as error:
            pushback = dict(error.trailing_metadata() or ()).get("grpc-retry-pushback-ms")
            if pushback is None:
                raise
            await asyncio.sleep(int(pushback) / 1000)
    return await call()


@asynccontextmanager
async def direct(target: str, token: str) -> AsyncIterator[Direct]:
    """Connect, on one channel."""
    async with grpc.aio.insecure_channel(target) as channel:
        yield Direct(
            sessions=SessionServiceStub(channel),
            runs=RunServiceStub(channel),
            metadata=(("authorization", f"Bearer {token}"),),
        )


@asynccontextmanager
async def engine(stage: Stage) -> AsyncIterator[Direct]:
    """Connect to the stage's server as an engine."""
    async with direct(stage.server.target, stage.server.token(tenant="bench", user="bench", role="engine")) as made:
        yield made
