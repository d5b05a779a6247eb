"""The one way out: every call of a client goes through here, on the loop that owns a connection, with retries."""
# ruff: noqa: ASYNC109 - a call's time goes to the server as its deadline, which asyncio.timeout can't do

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import CancelledError
from datetime import timedelta
from inspect import isawaitable
from typing import Any, Protocol, TypeVar

import grpc
from google.protobuf.message import Message

from lockstitch import retries
from lockstitch.background import Background
from lockstitch.connection import Connection, Endpoint
from lockstitch.errors import Cancelled, InvalidField
from lockstitch.failures import error_of, pushback
from lockstitch.streams import Stream, StreamCall, is_cancelled
from lockstitch.uploads import Upload, UploadCall

TokenSource = str | Callable[[], str | Awaitable[str]] | None
"""A token, or a callable (plain or async) that gives one; None where the channel's certificate says who calls."""

_Request = TypeVar("_Request", bound=Message)
_Response = TypeVar("_Response", bound=Message)
_Request_contra = TypeVar("_Request_contra", bound=Message, contravariant=True)
_Response_co = TypeVar("_Response_co", bound=Message, covariant=True)
_T = TypeVar("_T")

_CLOSED_MEANWHILE = "The client was closed during the call."
_Headers = Sequence[tuple[str, str]]


class Rpc(Protocol[_Request_contra, _Response_co]):
    """A unary method of a stub."""

    def __call__(
        self, request: _Request_contra, /, *, timeout: float, metadata: _Headers
    ) -> Awaitable[_Response_co]: ...


class StreamRpc(Protocol[_Request_contra, _Response_co]):
    """A server-streaming method of a stub."""

    def __call__(self, request: _Request_contra, /, *, metadata: _Headers) -> StreamCall[_Response_co]: ...


class UploadRpc(Protocol[_Request_contra, _Response_co]):
    """A client-streaming method of a stub."""

    def __call__(self, *, metadata: _Headers) -> UploadCall[_Request_contra, _Response_co]: ...


class Transport:
    """Calls a server from any event loop and any thread.

    The loop that adopted it has a connection of its own and pays nothing extra. All others, and plain threads, are
    served by one background loop, which is started when the first of them comes
    (docs/decisions/0002-client-event-loops.md has the measurements).
    """

    def __init__(self, endpoint: Endpoint, *, token: TokenSource, timeout: timedelta) -> None:
        self._endpoint = endpoint
        self._token = token
        self._headers = _bearer(token) if isinstance(token, str) else None
        self._timeout_seconds = timeout.total_seconds()
        self._budget = retries.RetryBudget()
        self._lock = threading.Lock()
        self._own: Connection | None = None
        self._background: Background | None = None
        self._closed = False

    def adopt(self) -> None:
        """Makes the running loop the one that calls directly."""
        self._refuse_closed()
        if self._own is not None:
            raise RuntimeError("The client is open already: `async with` it once, use it everywhere.")
        self._own = Connection(self._endpoint)

    async def call(
        self,
        rpc: Callable[[Connection], Rpc[_Request, _Response]],
        request: _Request,
        *,
        timeout: timedelta | None,
        request_id: str = "",
    ) -> _Response:
        """Calls one method and gives its answer, or raises a :class:`LockstitchError`.

        ``timeout`` covers all attempts together; None is the client's own.
        """
        seconds = self._timeout_seconds if timeout is None else timeout.total_seconds()
        connection, is_near = self._route()
        attempts = self._attempts(connection, rpc, request, seconds, request_id)
        return await self._on(connection, attempts, is_near=is_near, request_id=request_id)

    async def open(
        self, rpc: Callable[[Connection], StreamRpc[_Request, _Response]], request: _Request
    ) -> Stream[_Response]:
        """Opens a server stream with a fresh token: one attempt, whose failure shows when it is read."""
        connection, is_near = self._route()
        call = await self._on(connection, self._opened(connection, rpc, request), is_near=is_near)
        return Stream(connection, call, None if is_near else self._on)

    async def upload(
        self, rpc: Callable[[Connection], UploadRpc[_Request, _Response]], *, request_id: str
    ) -> Upload[_Request, _Response]:
        """Opens a client stream with a fresh token: one attempt, whose failure shows when it is written to."""
        connection, is_near = self._route()
        call = await self._on(connection, self._upload(connection, rpc), is_near=is_near)
        return Upload(connection, call, None if is_near else self._on, request_id=request_id)

    def may_go_on(self, *, is_answered: bool) -> bool:
        """Counts an attempt of a stream in the budget of retries. False where that allows no further one."""
        if is_answered:
            self._budget.succeeded()
            return True
        return self._budget.failed()

    def run(self, awaitable: Awaitable[_T]) -> _T:
        """Waits for an awaitable in this thread, while the background loop runs it."""
        loop = self._background_connection().loop
        if _running_loop() is loop:
            if asyncio.iscoroutine(awaitable):
                awaitable.close()  # it will never run: no warning on top of the error
            raise RuntimeError("run() would wait for the very loop that it runs on: await instead.")
        waiting = asyncio.run_coroutine_threadsafe(_awaited(awaitable), loop)
        try:
            return waiting.result()
        except CancelledError as given_up:
            raise Cancelled(_CLOSED_MEANWHILE) from given_up
        finally:
            waiting.cancel()  # for a wait that was interrupted; what is done stays done

    async def close(self) -> None:
        """Closes what was opened, whichever loop asks. Later calls are refused."""
        self._closed = True
        own, self._own = self._own, None
        if own is not None:
            if own.loop is asyncio.get_running_loop():
                await own.close()
            elif own.loop.is_running():
                await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(own.close(), own.loop))
        self.stop_background()

    def stop_background(self) -> None:
        """Ends the background loop, if there is one. Later calls are refused."""
        with self._lock:
            self._closed = True
            background, self._background = self._background, None
        if background is not None:
            background.stop()

    @property
    def timeout_seconds(self) -> float:
        """How long a call may take that does not say."""
        return self._timeout_seconds

    @property
    def is_closed(self) -> bool:
        """Whether calls are refused."""
        return self._closed

    async def _on(
        self, connection: Connection, work: Coroutine[Any, Any, _T], *, is_near: bool = False, request_id: str = ""
    ) -> _T:
        """Runs what belongs to a connection on its loop; ``is_near`` where that is the running one."""
        try:
            if is_near:
                return await work
            if connection.loop.is_closed():
                work.close()
                raise Cancelled(_CLOSED_MEANWHILE, request_id=request_id)
            return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, connection.loop))
        except asyncio.CancelledError as given_up:
            if self._closed and not is_cancelled():
                raise Cancelled(_CLOSED_MEANWHILE, request_id=request_id) from given_up
            raise

    async def _opened(
        self, connection: Connection, rpc: Callable[[Connection], StreamRpc[_Request, _Response]], request: _Request
    ) -> StreamCall[_Response]:
        self._refuse_closed()
        headers = self._headers or await self._fresh_headers()
        return rpc(connection)(request, metadata=headers)

    async def _upload(
        self, connection: Connection, rpc: Callable[[Connection], UploadRpc[_Request, _Response]]
    ) -> UploadCall[_Request, _Response]:
        self._refuse_closed()
        headers = self._headers or await self._fresh_headers()
        return rpc(connection)(metadata=headers)

    async def _attempts(
        self,
        connection: Connection,
        rpc: Callable[[Connection], Rpc[_Request, _Response]],
        request: _Request,
        seconds: float,
        request_id: str,
    ) -> _Response:
        method, now = rpc(connection), connection.loop.time
        deadline = now() + seconds
        backoff = retries.waits()
        while True:
            self._refuse_closed()
            headers = self._headers or await self._fresh_headers()
            try:
                response = await method(request, timeout=max(deadline - now(), 0.0), metadata=headers)
            except grpc.aio.AioRpcError as failure:
                error = error_of(failure, request_id=request_id)
                wait = self._wait_before_retry(failure, next(backoff), error.retry_after)
                if wait is None or now() + wait >= deadline:
                    raise error from failure
                await asyncio.sleep(wait)
            else:
                self._budget.succeeded()
                return response

    def _wait_before_retry(
        self, failure: grpc.aio.AioRpcError, backoff: float, retry_after: timedelta | None
    ) -> float | None:
        if not retries.is_retryable(failure.code()):
            self._budget.succeeded()
            return None
        if not self._budget.failed():
            return None
        return retries.wait_seconds(backoff, pushback=pushback(failure), retry_after=retry_after)

    async def _fresh_headers(self) -> _Headers:
        if self._token is None:
            return ()
        if isinstance(self._token, str):
            return _bearer(self._token)
        given = self._token()
        return _bearer(await given if isawaitable(given) else given)

    def _route(self) -> tuple[Connection, bool]:
        """The connection that serves the running loop, and whether it belongs to that loop."""
        own, loop = self._own, asyncio.get_running_loop()
        if own is not None and own.loop is loop:
            return own, True
        background = self._background_connection()
        return background, background.loop is loop

    def _background_connection(self) -> Connection:
        background = self._background
        if background is None:
            with self._lock:
                self._refuse_closed()
                background = self._background = self._background or Background(self._endpoint)
        return background.connection

    def _refuse_closed(self) -> None:
        if self._closed:
            raise RuntimeError("The client is closed.")


def _bearer(token: str) -> _Headers:
    if not token.isascii() or not token.isprintable():
        raise InvalidField("The token holds characters that no header can carry.")
    return (("authorization", f"Bearer {token}"),)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


async def _awaited(awaitable: Awaitable[_T]) -> _T:
    return await awaitable
