"""A gRPC server that stands before a real one: it passes calls on, notes them, and fails those it is told to fail."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
from google.protobuf.any_pb2 import Any as Packed
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message_factory import GetMessageClass
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status
from grpc import aio

from lockstitch.v1 import admin_service_pb2, checkpoint_service_pb2, run_service_pb2, session_service_pb2
from lockstitch.v1.admin_service_pb2 import GetServerInfoResponse

_BYTES_MAX = 16 * 1024 * 1024
_OPTIONS = [
    ("grpc.max_receive_message_length", _BYTES_MAX),
    ("grpc.max_send_message_length", _BYTES_MAX),
    ("grpc.so_reuseport", 0),
    ("grpc.max_reconnect_backoff_ms", 200),
    ("grpc.initial_reconnect_backoff_ms", 100),
]
_REQUESTS = {
    f"/{service.full_name}/{method.name}": GetMessageClass(method.input_type)
    for file in (admin_service_pb2, checkpoint_service_pb2, run_service_pb2, session_service_pb2)
    for service in file.DESCRIPTOR.services_by_name.values()
    for method in service.methods
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What a call is answered in place of its answer."""

    code: str = "UNAVAILABLE"
    message: str = ""
    reason: str = ""
    """Empty: a status without details, as a proxy on the way makes it."""
    domain: str = "lockstitch.dev"
    metadata: dict[str, str] = field(default_factory=dict)
    fields: list[str] = field(default_factory=list)
    retry_after_ms: int | None = None
    pushback: str | None = None
    """The value of grpc-retry-pushback-ms, as it is sent."""
    delivers: bool = False
    """Whether the real server gets the call all the same; its answer is thrown away."""

    def trailers(self) -> list[tuple[str, str | bytes]]:
        sent: list[tuple[str, str | bytes]] = []
        if self.reason:
            status = Status(code=grpc.StatusCode[self.code].value[0], message=self.message)
            details: list[Any] = [ErrorInfo(reason=self.reason, domain=self.domain, metadata=self.metadata)]
            if self.fields:
                violations = [BadRequest.FieldViolation(field=one, description=self.message) for one in self.fields]
                details.append(BadRequest(field_violations=violations))
            if self.retry_after_ms is not None:
                delay = Duration()
                delay.FromMilliseconds(self.retry_after_ms)
                details.append(RetryInfo(retry_delay=delay))
            for detail in details:
                packed = Packed()
                packed.Pack(detail)
                status.details.append(packed)
            sent.append(("grpc-status-details-bin", status.SerializeToString()))
        if self.pushback is not None:
            sent.append(("grpc-retry-pushback-ms", self.pushback))
        return sent


@dataclass(frozen=True, slots=True)
class Call:
    """A call that came by."""

    method: str
    request: Any
    at_seconds: float

    @property
    def request_id(self) -> str:
        return str(getattr(self.request, "request_id", ""))


class Between(grpc.GenericRpcHandler):
    """Every call of every client that was pointed at it."""

    def __init__(self, target: str) -> None:
        # Not typed: the stubs know of messages only, and these are bytes.
        self._channel: Any = aio.insecure_channel(target, options=[*_OPTIONS, ("grpc.enable_retries", 0)])
        self._failures: list[tuple[str, Failure]] = []
        self._streams: set[asyncio.Future[Failure]] = set()
        self.calls: list[Call] = []
        """What came, in order."""
        self.version = ""
        """The version that the server is said to have; empty: its own."""
        self.target = ""

    def fail(self, method: str, failure: Failure, *, times: int = 1) -> None:
        """Answer so many of the next calls of a method with a failure; any method's where none is named."""
        self._failures += [(method, failure)] * times

    def forgive(self) -> None:
        """Fail nothing any more."""
        self._failures.clear()

    def end_streams(self, failure: Failure) -> int:
        """End the streams that are open, and say how many these were."""
        streams, self._streams = self._streams, set()
        for ending in streams:
            if not ending.done():
                ending.set_result(failure)
        return len(streams)

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Any:
        """Take any method; on the wire a unary call is a stream of one message each way."""
        path = handler_call_details.method

        async def handle(requests: AsyncIterator[bytes], context: Any) -> AsyncIterator[bytes]:
            async for answer in self._handle(path, requests, context):
                yield answer

        taken: Any = handle
        return grpc.stream_stream_rpc_method_handler(taken)

    async def _handle(self, path: str, requests: AsyncIterator[bytes], context: Any) -> AsyncIterator[bytes]:
        method = path.rpartition("/")[2]
        first = await anext(aiter(requests))
        self.calls.append(Call(method, _REQUESTS[path].FromString(first), time.monotonic()))
        failure = self._next_failure(method)
        if failure is not None and not failure.delivers:
            await _fail(context, failure)
        ending: asyncio.Future[Failure] = asyncio.get_running_loop().create_future()
        async for answer in self._passed_on(path, first, requests, context, ending):
            if failure is not None:
                await _fail(context, failure)
            yield self._told(method, answer)

    async def _passed_on(
        self, path: str, first: bytes, requests: AsyncIterator[bytes], context: Any, ending: asyncio.Future[Failure]
    ) -> AsyncIterator[bytes]:
        async def sent() -> AsyncIterator[bytes]:
            yield first
            async for request in requests:
                yield request

        headers = [(key, value) for key, value in context.invocation_metadata() if key == "authorization"]
        call = self._channel.stream_stream(path)(sent(), metadata=headers, timeout=context.time_remaining())
        self._streams.add(ending)
        try:
            while True:
                reading = asyncio.ensure_future(call.read())
                await asyncio.wait([reading, ending], return_when=asyncio.FIRST_COMPLETED)
                if ending.done():
                    reading.cancel()
                    await _fail(context, ending.result())
                answer = await reading
                if answer is aio.EOF:
                    return
                yield answer
        except aio.AioRpcError as error:
            await context.abort(error.code(), error.details() or "", tuple(error.trailing_metadata() or ()))
        finally:
            self._streams.discard(ending)
            call.cancel()

    def _next_failure(self, method: str) -> Failure | None:
        for place, (named, failure) in enumerate(self._failures):
            if named in {"", method}:
                del self._failures[place]
                return failure
        return None

    def _told(self, method: str, answer: bytes) -> bytes:
        if method != "GetServerInfo" or not self.version:
            return answer
        info = GetServerInfoResponse.FromString(answer)
        info.version = self.version
        return info.SerializeToString()

    async def close(self) -> None:
        await self._channel.close()


async def _fail(context: Any, failure: Failure) -> None:
    await context.abort(grpc.StatusCode[failure.code], failure.message, tuple(failure.trailers()))


@asynccontextmanager
async def between(target: str) -> AsyncIterator[Between]:
    """Stand before a server, on a free port of loopback."""
    made = Between(target)
    server = aio.server(options=_OPTIONS)
    server.add_generic_rpc_handlers((made,))
    made.target = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await server.start()
    try:
        yield made
    finally:
        await server.stop(grace=None)
        await made.close()
