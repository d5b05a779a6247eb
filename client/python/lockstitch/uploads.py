"""An open client stream: written one message at a time, from any event loop, while it lives on its connection's own."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextlib import suppress
from typing import Any, Generic, NoReturn, Protocol, TypeVar

import grpc
from google.protobuf.message import Message

from lockstitch.connection import Connection
from lockstitch.errors import Cancelled
from lockstitch.failures import error_of
from lockstitch.streams import is_cancelled

_Request = TypeVar("_Request", bound=Message)
_Response = TypeVar("_Response", bound=Message)
_Request_contra = TypeVar("_Request_contra", bound=Message, contravariant=True)
_Response_co = TypeVar("_Response_co", bound=Message, covariant=True)
_T = TypeVar("_T")


class UploadCall(Protocol[_Request_contra, _Response_co]):
    """A running client stream, as gRPC has it."""

    async def write(self, request: _Request_contra, /) -> None:
        """Sends a message."""

    async def done_writing(self) -> None:
        """Says that no more come."""

    def cancel(self) -> bool:
        """Gives it up."""

    def __await__(self) -> Generator[Any, None, _Response_co]:
        """The answer."""


class OnLoop(Protocol):
    """Runs what belongs to a connection on its loop."""

    def __call__(self, connection: Connection, work: Coroutine[Any, Any, _T], /) -> Awaitable[_T]: ...


class Upload(Generic[_Request, _Response]):
    """A client stream. It holds no task: whoever writes to it is all that runs, and giving up a write ends it."""

    def __init__(
        self, connection: Connection, call: UploadCall[_Request, _Response], run_on: OnLoop | None, *, request_id: str
    ) -> None:
        """``run_on`` brings a write to the connection's loop; None where it is opened, and written, on that loop."""
        self._connection = connection
        self._channel = connection.channel
        self._call = call
        self._run_on = run_on
        self._request_id = request_id

    async def write(self, request: _Request, *, within_seconds: float) -> None:
        """Sends a message. That it was sent says nothing of whether it arrived.

        Raises:
            TimeoutError: It could not be sent in time. The stream is ended, and its connection is not trusted any more.
            LockstitchError: The stream failed.
        """

        async def written() -> None:
            await self._call.write(request)

        await self._on(self._bounded(written, within_seconds))

    async def finish(self, *, within_seconds: float) -> _Response:
        """Says that no more come, and gives the answer. Raises what :meth:`write` does."""

        async def answered() -> _Response:
            with suppress(asyncio.InvalidStateError):  # it has ended already: the answer says how
                await self._call.done_writing()
            return await self._call

        return await self._on(self._bounded(answered, within_seconds))

    def cancel(self) -> None:
        """Gives the stream up, from whichever thread. Harmless where it has ended."""
        with suppress(RuntimeError):  # a loop that is closed has cancelled everything already
            self._connection.loop.call_soon_threadsafe(self._call.cancel)

    async def _on(self, work: Coroutine[Any, Any, _T]) -> _T:
        return await (work if self._run_on is None else self._run_on(self._connection, work))

    async def _bounded(self, step: Callable[[], Awaitable[_T]], seconds: float) -> _T:
        try:
            async with asyncio.timeout(seconds):
                try:
                    return await step()
                except asyncio.InvalidStateError:
                    await self._say_why()
        except TimeoutError:
            self._call.cancel()
            self._connection.renew(self._channel)
            raise
        except grpc.aio.AioRpcError as failure:
            raise error_of(failure, request_id=self._request_id) from failure
        except asyncio.CancelledError as cut:
            if is_cancelled():
                raise
            raise Cancelled("The stream was given up with its connection.", request_id=self._request_id) from cut

    async def _say_why(self) -> NoReturn:
        """Raises why a stream takes no more."""
        await self._call
        raise Cancelled("The server answered before the end.", request_id=self._request_id)
