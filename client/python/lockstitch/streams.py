"""An open server stream: read one message at a time, from any event loop, while it lives on its connection's own."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, Generic, Protocol, TypeVar, cast

import grpc
from google.protobuf.message import Message

from lockstitch.connection import Connection
from lockstitch.errors import Cancelled
from lockstitch.failures import error_of

_Response = TypeVar("_Response", bound=Message)
_Response_co = TypeVar("_Response_co", bound=Message, covariant=True)
_T = TypeVar("_T")

OnLoop = Callable[[Connection, Coroutine[Any, Any, _T]], Awaitable[_T]]


class StreamCall(Protocol[_Response_co]):
    """A running server stream, as gRPC has it."""

    async def read(self) -> _Response_co | object:
        """The next message, or grpc.aio.EOF."""

    def cancel(self) -> bool:
        """Ends it."""


class Stream(Generic[_Response]):
    """A server stream. It holds no task: whoever reads it is all that runs, and giving up a read ends the stream."""

    def __init__(self, connection: Connection, call: StreamCall[_Response], run_on: OnLoop[_Response | None]) -> None:
        self._connection = connection
        self._channel = connection.channel
        self._call = call
        self._run_on = run_on

    async def read(self, *, within_seconds: float) -> _Response | None:
        """The next message; None where the stream has come to its end.

        Raises:
            TimeoutError: Nothing came in time. The stream is ended, and its connection is not trusted any more.
            LockstitchError: The stream failed.
        """
        return await self._run_on(self._connection, self._read(within_seconds))

    def cancel(self) -> None:
        """Ends the stream, from whichever thread. Harmless where it has ended."""
        with suppress(RuntimeError):  # a loop that is closed has cancelled everything already
            self._connection.loop.call_soon_threadsafe(self._call.cancel)

    async def _read(self, within_seconds: float) -> _Response | None:
        try:
            async with asyncio.timeout(within_seconds):
                message = await self._call.read()
        except TimeoutError:
            self._connection.renew(self._channel)
            raise
        except grpc.aio.AioRpcError as failure:
            raise error_of(failure) from failure
        except asyncio.CancelledError as cut:
            if is_cancelled():
                raise
            raise Cancelled("The stream was given up with its connection.") from cut
        return None if message is grpc.aio.EOF else cast("_Response", message)


def is_cancelled() -> bool:
    """Whether somebody asked to cancel the running task. A closed channel raises CancelledError without that."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
