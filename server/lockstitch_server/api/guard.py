"""What every call goes through: identity, a deadline, and errors as statuses."""

import asyncio
import re
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from datetime import timedelta
from typing import Any, TypeAlias, TypeVar, cast

import grpc
import grpc.aio
import structlog
from google.protobuf.message import DecodeError, Message

from lockstitch_server.api import failures
from lockstitch_server.api.admission import Admission
from lockstitch_server.api.call import Call, call_metadata, current_call
from lockstitch_server.api.doorway import Doorway
from lockstitch_server.api.line import Handler
from lockstitch_server.api.patience import Patience
from lockstitch_server.api.rates import Rates
from lockstitch_server.auth.identity import Identity
from lockstitch_server.errors import InternalError, InvalidField, LockstitchError, SlowConsumer, TokenMissing

Request = TypeVar("Request", bound=Message)
Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"
Answer: TypeAlias = Callable[[Any, Context], Awaitable[Any]]
Stream: TypeAlias = Callable[[Any, Context], AsyncGenerator[Any, None]]

_OURS = "/lockstitch.v1."
_TAKES_ITS_TIME = frozenset(
    {
        "/lockstitch.v1.AdminService/PurgeSession",
        "/lockstitch.v1.AdminService/EraseUser",
        "/lockstitch.v1.SessionService/ForkSession",
    }
)
"""Calls that go on without a deadline where they came without one."""

_BEARER = "bearer "
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")
_log = structlog.get_logger(__name__)


class _Unreadable:
    """Stands for a request that is not what its method takes."""


class Guard:
    """Puts itself before the methods of our services."""

    def __init__(
        self,
        identity: Identity,
        rates: Rates,
        admission: Admission,
        *,
        unary_deadline: timedelta,
        stall_max: timedelta,
    ) -> None:
        """`unary_deadline` is for calls that came without one, `stall_max` for streams that take nothing."""
        self._tokens = identity.tokens
        self._certificates = identity.certificates
        self._rates = rates
        self._admission = admission
        self._deadline = unary_deadline.total_seconds()
        self._stall_max = stall_max.total_seconds()
        self._doorway = Doorway()

    async def drain(self) -> None:
        """Turn calls away from now on, until none comes any more."""
        await self._doorway.close()

    def guarded(self, method: str, handler: Handler) -> Handler:
        """Give the handler to serve in place of one of our methods'; others' are served as they are."""
        if not method.startswith(_OURS):
            return handler
        read = _reading(cast("Callable[[bytes], Any]", handler.request_deserializer))
        write = _writing(handler.response_serializer)
        if handler.response_streaming:
            streamed = self._streaming(cast("Stream", handler.unary_stream))
            return grpc.unary_stream_rpc_method_handler(self._before(method, streamed), read, write)
        if handler.request_streaming:
            taking = _taking(cast("Answer", handler.stream_unary))
            return grpc.stream_unary_rpc_method_handler(self._before(method, taking), read, write)
        answer = self._admitting(method, cast("Answer", handler.unary_unary))
        return grpc.unary_unary_rpc_method_handler(self._before(method, answer), read, write)

    def _admitting(self, method: str, answer: Answer) -> Answer:
        if method in _TAKES_ITS_TIME:
            return answer

        async def admitted(request: Any, context: Context) -> Any:
            with self._admission.admitted(request.ByteSize()):
                if context.time_remaining() is not None:
                    return await answer(request, context)
                async with asyncio.timeout(self._deadline):
                    return await answer(request, context)

        return admitted

    def _streaming(self, stream: Stream) -> Answer:
        async def streamed(request: Any, context: Context) -> None:
            async with aclosing(stream(request, context)) as frames:
                stalled = await self._written(frames, context)
            # The call's end waits behind the frame that is not taken, so what the stream held is let go before.
            if stalled:
                raise SlowConsumer(f"Nothing was taken for {self._stall_max:g} s.")

        return streamed

    async def _written(self, frames: AsyncGenerator[Any, None], context: Context) -> bool:
        """Write frames while they are taken; True where one was not."""
        with Patience(self._stall_max) as patience:
            async for frame in frames:
                patience.begins()
                try:
                    await context.write(frame)
                except grpc.aio.BaseError:
                    # The caller has gone.
                    break
                patience.ends()
        return patience.is_over

    def _before(self, method: str, answer: Answer) -> Answer:
        async def guarded(request: Any, context: Context) -> Any:
            try:
                self._doorway.enter()
                call = await self._identify(context)
                self._rates.take(call.principal)
                current_call.set(call)
                _check_readable(request)
                return await answer(request, context)
            except LockstitchError as error:
                await _fail(context, error)
            except TimeoutError:
                await context.abort(grpc.StatusCode.DEADLINE_EXCEEDED, "The call took longer than it may.")
            except grpc.aio.AbortError:
                raise
            except Exception:  # noqa: BLE001 - whatever it is, it leaves as INTERNAL with an incident's id
                incident_id = uuid.uuid4().hex
                _log.exception("incident", incident_id=incident_id, method=method)
                await _fail(context, InternalError(incident_id))

        return guarded

    async def _identify(self, context: Context) -> Call:
        token = traceparent = None
        for key, value in call_metadata.get():
            if key == "authorization" and isinstance(value, str):
                token = value
            elif key == "traceparent" and isinstance(value, str) and _TRACEPARENT.fullmatch(value):
                traceparent = value
        if token is None:
            stands_for = self._certificates.principal(context.auth_context())
            if stands_for is None:
                raise TokenMissing
            return Call(*stands_for, traceparent)
        if token[: len(_BEARER)].lower() != _BEARER:
            raise TokenMissing
        stated = token[len(_BEARER) :]
        return Call(*(self._tokens.known(stated) or await self._tokens.verify(stated)), traceparent)


def _reading(parse: Callable[[bytes], Request]) -> Callable[[bytes], Request | _Unreadable]:
    """Parse requests such that bytes which are no message get our error, not gRPC's."""

    def read(data: bytes) -> Request | _Unreadable:
        try:
            request = parse(data)
        except DecodeError:
            return _Unreadable()
        # What only a newer client knows is not kept with a message's bytes, to come to life after an upgrade.
        request.DiscardUnknownFields()
        return request

    return read


def _writing(serialize: Callable[[Any], bytes] | None) -> Callable[[Any], bytes]:
    """Serialize answers, but for those that were put together as bytes."""

    def write(response: Any) -> bytes:
        return response if serialize is None or isinstance(response, bytes) else serialize(response)

    return write


def _taking(answer: Answer) -> Answer:
    """Answer a stream of requests, each of which must be readable; it has no deadline but the caller's."""

    async def taken(requests: AsyncIterator[Any], context: Context) -> Any:
        return await answer(_readable(requests), context)

    return taken


async def _readable(requests: AsyncIterator[Any]) -> AsyncIterator[Any]:
    async for request in requests:
        _check_readable(request)
        yield request


def _check_readable(request: object) -> None:
    if isinstance(request, _Unreadable):
        raise InvalidField("request", "is not a message of this method")


async def _fail(context: Context, error: LockstitchError) -> None:
    try:
        await context.abort(failures.code_of(error), failures.sentence_of(error), failures.trailers(error))
    except grpc.aio.AbortError:
        raise
    except grpc.aio.BaseError:
        # The caller went before it could be told.
        return
