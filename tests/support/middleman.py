"""A server that stands between callers and a real one, and may break one promise on the way."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf.message_factory import GetMessageClass
from grpc import aio

from lockstitch.v1 import admin_service_pb2, checkpoint_service_pb2, run_service_pb2, session_service_pb2

_BYTES_MAX = 16 * 1024 * 1024
_OPTIONS = [
    ("grpc.max_receive_message_length", _BYTES_MAX),
    ("grpc.max_send_message_length", _BYTES_MAX),
    ("grpc.so_reuseport", 0),
    ("grpc.enable_retries", 0),
]
_METHODS = {
    f"/{service.full_name}/{method.name}": method
    for file in (admin_service_pb2, checkpoint_service_pb2, run_service_pb2, session_service_pb2)
    for service in file.DESCRIPTOR.services_by_name.values()
    for method in service.methods
}
_PATHS = {method.input_type.name: path for path, method in _METHODS.items()}


@dataclass(frozen=True, slots=True)
class Onward:
    """The way of one call to the real server: `await onward(request)`."""

    channel: Any
    token: str
    """Who calls."""
    seconds_left: float | None

    async def __call__(self, request: Any, *, token: str = "") -> Any:
        """Send a request, of the caller's or of whoever has another token."""
        path = _PATHS[request.DESCRIPTOR.name]
        answers = GetMessageClass(_METHODS[path].output_type).FromString
        call = self.channel.unary_unary(path, _bytes_of, answers)
        return await call(request, metadata=_headers(token or self.token), timeout=self.seconds_left)


class Middleman(grpc.GenericRpcHandler):
    """An honest one: it passes on what it is given. Who inherits from it breaks a promise."""

    def __init__(self, target: str) -> None:
        # Not typed: the stubs know of messages only, and these are bytes.
        self._channel: Any = aio.insecure_channel(target, options=_OPTIONS)

    async def answer(self, request: Any, onward: Onward) -> Any:
        """Answer a unary call."""
        return await onward(request)

    async def frames(self, frames: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Give the frames of a subscription."""
        async for frame in frames:
            yield frame

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Any:
        """Take any method of ours."""
        method = _METHODS[handler_call_details.method]
        if method.client_streaming:
            return grpc.stream_unary_rpc_method_handler(self._draft)
        reads = GetMessageClass(method.input_type).FromString
        if method.server_streaming:
            return grpc.unary_stream_rpc_method_handler(self._stream, reads, _bytes_of)
        return grpc.unary_unary_rpc_method_handler(self._unary, reads, _bytes_of)

    async def close(self) -> None:
        await self._channel.close()

    async def _unary(self, request: Any, context: Any) -> Any:
        onward = Onward(self._channel, _token_of(context), context.time_remaining())
        try:
            return await self.answer(request, onward)
        except aio.AioRpcError as error:
            await _pass_on(context, error)

    async def _stream(self, request: Any, context: Any) -> AsyncIterator[Any]:
        path = _PATHS[request.DESCRIPTOR.name]
        answers = GetMessageClass(_METHODS[path].output_type).FromString
        call = self._channel.unary_stream(path, _bytes_of, answers)(request, metadata=_headers(_token_of(context)))
        try:
            async for frame in self.frames(call):
                yield frame
        except aio.AioRpcError as error:
            await _pass_on(context, error)
        finally:
            call.cancel()

    async def _draft(self, steps: AsyncIterator[bytes], context: Any) -> Any:
        call = self._channel.stream_unary(_PATHS["StreamDraftRequest"])
        try:
            return await call(steps, metadata=_headers(_token_of(context)), timeout=context.time_remaining())
        except aio.AioRpcError as error:
            await _pass_on(context, error)


@asynccontextmanager
async def standing(middleman: Middleman) -> AsyncIterator[str]:
    """Let a middleman take calls; gives its target."""
    server = aio.server(options=_OPTIONS)
    server.add_generic_rpc_handlers((middleman,))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        await server.stop(grace=None)
        await middleman.close()


def _bytes_of(message: Any) -> bytes:
    sent: bytes = message.SerializeToString()
    return sent


def _token_of(context: Any) -> str:
    headers = dict(context.invocation_metadata() or ())
    return str(headers.get("authorization", "")).removeprefix("Bearer ")


def _headers(token: str) -> list[tuple[str, str]]:
    return [("authorization", f"Bearer {token}")] if token else []


async def _pass_on(context: Any, error: aio.AioRpcError) -> None:
    await context.abort(error.code(), error.details() or "", tuple(error.trailing_metadata() or ()))
