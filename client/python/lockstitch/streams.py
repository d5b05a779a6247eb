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

    def __init__(
        self, connection: Connection, call: StreamCall[_Response], run_on: OnLoop[_Response | None] | None
    ) -> None:
        """``run_on`` brings a read to the connection's loop; None where it is opened, and read, on that loop."""
        self._connection = connection
        self._channel = connection.channel
        self._call = call
        self._run_on = run_on
        self._patient_until: float | None = None
        self._alarm: asyncio.TimerHandle | None = None
        self._is_silent = False

    async def read(self, *, within_seconds: float) -> _Response | None:
        """The next message; None where the stream has come to its end.

        Raises:
            TimeoutError: Nothing came in time. The stream is ended, and its connection is not trusted any more.
            LockstitchError: The stream failed.
        """
        reading = self._read(within_seconds)
        return await (reading if self._run_on is None else self._run_on(self._connection, reading))

    def cancel(self) -> None:
        """Ends the stream, from whichever thread. Harmless where it has ended."""
        with suppress(RuntimeError):  # a loop that is closed has cancelled everything already
            self._connection.loop.call_soon_threadsafe(self._call.cancel)

    async def _read(self, within_seconds: float) -> _Response | None:
        self._be_patient(within_seconds)
        try:
            message = await self._call.read()
        except grpc.aio.AioRpcError as failure:
            raise error_of(failure) from failure
        except asyncio.CancelledError as cut:
            if is_cancelled():
                raise
            if self._is_silent:
                self._connection.renew(self._channel)
                raise TimeoutError("The server said nothing.") from cut
            raise Cancelled("The stream was given up with its connection.") from cut
        finally:
            self._patient_until = None
        return None if message is grpc.aio.EOF else cast("_Response", message)

    def _be_patient(self, seconds: float) -> None:
        """Bounds a read. The timer of an earlier read stays as long as it rings early enough: a timer each is dear."""
        loop = self._connection.loop
        self._patient_until = loop.time() + seconds
        if self._alarm is not None and self._alarm.when() > self._patient_until:
            self._alarm.cancel()
            self._alarm = None
        if self._alarm is None:
            self._alarm = loop.call_at(self._patient_until, self._ring)

    def _ring(self) -> None:
        self._alarm = None
        if self._patient_until is None:
            return
        if self._connection.loop.time() < self._patient_until:
            self._alarm = self._connection.loop.call_at(self._patient_until, self._ring)
            return
        self._is_silent = True
        self._call.cancel()


def is_cancelled() -> bool:
    """Whether somebody asked to cancel the running task. A closed channel raises CancelledError without that."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
