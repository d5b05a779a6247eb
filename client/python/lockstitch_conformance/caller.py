"""One caller of the target: the generated stubs, with a token and a deadline on every call."""

import asyncio
import time
from collections.abc import AsyncIterator
from functools import partial
from typing import Any
from uuid import uuid4

import grpc
from google.protobuf.message import Message as Request
from grpc import aio

from lockstitch.v1 import (
    admin_service_pb2_grpc,
    checkpoint_service_pb2_grpc,
    run_service_pb2_grpc,
    session_service_pb2_grpc,
)
from lockstitch.v1.commit_pb2 import Commit, CommitReceipt
from lockstitch.v1.message_pb2 import Message
from lockstitch.v1.run_pb2 import Run
from lockstitch.v1.run_service_pb2 import StartRunRequest
from lockstitch.v1.session_pb2 import Session
from lockstitch.v1.session_service_pb2 import (
    AppendRequest,
    CreateSessionRequest,
    GetMemoryRequest,
    GetSessionRequest,
    ListCommitsRequest,
    ListMessagesRequest,
    ListToolCallsRequest,
)
from lockstitch.v1.subscription_pb2 import SubscribeRequest
from lockstitch.v1.tool_call_pb2 import ToolCall
from lockstitch.v1.working_memory_pb2 import WorkingMemory
from lockstitch_conformance.contents import said
from lockstitch_conformance.stream import Stream
from lockstitch_conformance.suite import Broken

CALL_SECONDS_MAX = 30.0
PUSHBACK = "grpc-retry-pushback-ms"
RETRY_MILLISECONDS = "200"


class Caller:
    """One caller: `await caller(AppendRequest(…))`, and short names for what every check does."""

    def __init__(self, channel: aio.Channel, token: str = "") -> None:
        self._headers = [("authorization", f"Bearer {token}")] if token else []
        signed: Any = _Signed(channel, self._headers)
        self._stubs = (
            session_service_pb2_grpc.SessionServiceStub(signed),
            run_service_pb2_grpc.RunServiceStub(signed),
            checkpoint_service_pb2_grpc.CheckpointServiceStub(signed),
            admin_service_pb2_grpc.AdminServiceStub(signed),
        )

    async def __call__(self, request: Request) -> Any:
        """Make the call that the request's type is named after, with a fresh request_id where it has none."""
        if "request_id" in request.DESCRIPTOR.fields_by_name and not getattr(request, "request_id", ""):
            sent = type(request)()
            sent.CopyFrom(request)
            setattr(sent, "request_id", uuid4().hex)  # noqa: B010 - the type has it, which mypy can't know
            request = sent
        return await self.send(request)

    async def send(self, request: Request, *, seconds_max: float = CALL_SECONDS_MAX) -> Any:
        """Make the call with the request as it is; `UNAVAILABLE` is sent again, which is nowhere a second write."""
        method = self._method(type(request).__name__.removesuffix("Request"))
        ends = time.monotonic() + seconds_max
        while True:
            try:
                return await method(request, timeout=max(ends - time.monotonic(), 0.1))
            except aio.AioRpcError as error:
                if error.code() is not grpc.StatusCode.UNAVAILABLE or time.monotonic() > ends:
                    raise
                pushback = dict(error.trailing_metadata() or ()).get(PUSHBACK, RETRY_MILLISECONDS)
                await asyncio.sleep(_seconds_of(pushback))

    def subscribe(self, session_id: str, after_version: int = 0, **fields: Any) -> Stream:
        """Open a stream, to be used as a context."""
        request = SubscribeRequest(session_id=session_id, after_version=after_version, **fields)
        return Stream(self._method("Subscribe")(request))

    async def draft(self, *steps: Request) -> Any:
        """Send a draft's steps."""

        async def sent() -> AsyncIterator[Request]:
            for step in steps:
                yield step

        return await self._method("StreamDraft")(sent(), timeout=CALL_SECONDS_MAX)

    async def create(self, *messages: str | Message, **fields: Any) -> str:
        """Create a session and give its id."""
        request = CreateSessionRequest(messages=[said(message) for message in messages], **fields)
        return str((await self(request)).session.session_id)

    async def append(self, session_id: str, *messages: str | Message, **fields: Any) -> CommitReceipt:
        request = AppendRequest(session_id=session_id, messages=[said(message) for message in messages], **fields)
        receipt: CommitReceipt = (await self(request)).receipt
        return receipt

    async def get(self, session_id: str, **fields: Any) -> Session:
        session: Session = (await self(GetSessionRequest(session_id=session_id, **fields))).session
        return session

    async def memory(self, session_id: str, **fields: Any) -> WorkingMemory:
        memory: WorkingMemory = (await self(GetMemoryRequest(session_id=session_id, **fields))).memory
        return memory

    async def run(self, session_id: str, **fields: Any) -> Run:
        """Start a run."""
        run: Run = (await self(StartRunRequest(session_id=session_id, **fields))).run
        return run

    async def messages(self, session_id: str, **fields: Any) -> list[Message]:
        return await self._all(ListMessagesRequest(session_id=session_id, **fields), "messages")

    async def commits(self, session_id: str, **fields: Any) -> list[Commit]:
        return await self._all(ListCommitsRequest(session_id=session_id, **fields), "commits")

    async def tool_calls(self, session_id: str, **fields: Any) -> list[ToolCall]:
        return await self._all(ListToolCallsRequest(session_id=session_id, **fields), "tool_calls")

    async def texts(self, session_id: str) -> list[str]:
        """Give the first text of each message, in order."""
        return [message.parts[0].text for message in await self.messages(session_id)]

    async def _all(self, request: Any, items: str) -> list[Any]:
        found: list[Any] = []
        while True:
            page = await self(request)
            found += getattr(page, items)
            if not page.next_page_token:
                return found
            request.page_token = page.next_page_token

    def _method(self, name: str) -> Any:
        (found,) = (getattr(stub, name) for stub in self._stubs if hasattr(stub, name))
        return found


def _seconds_of(pushback: str | bytes) -> float:
    try:
        return max(int(pushback), 0) / 1000
    except ValueError:
        raise Broken(f"{PUSHBACK} is {pushback!r}") from None


class _Signed:
    """A channel whose calls carry the caller's headers."""

    def __init__(self, channel: aio.Channel, headers: list[tuple[str, str]]) -> None:
        self._channel: Any = channel
        self._headers = headers

    def __getattr__(self, kind: str) -> Any:
        """Give a kind of call, such as `unary_unary`."""
        make = getattr(self._channel, kind)
        return lambda *arguments, **named: partial(make(*arguments, **named), metadata=self._headers)
