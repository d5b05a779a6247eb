"""A connection with an event loop and a thread of its own, for callers that have no loop or another one."""

import asyncio
import threading
import weakref
from concurrent.futures import Future

from lockstitch.connection import Connection, Endpoint

_JOIN_SECONDS = 5.0


class Background:
    """Runs a loop in a daemon thread, with a connection on it, until it is stopped or nobody holds it any more.

    The constructor returns when the loop runs and the connection is made.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        ready: Future[tuple[Connection, asyncio.Event]] = Future()
        # The thread must not know this object, or it would never be collected.
        thread = threading.Thread(target=_thread, args=(endpoint, ready), name="lockstitch", daemon=True)
        thread.start()
        self.connection, stopping = ready.result()
        # Also runs at the interpreter's exit: a daemon thread that is still inside gRPC then would be torn apart.
        self._finalizer = weakref.finalize(self, _stop, self.connection.loop, stopping, thread)

    def stop(self) -> None:
        """Closes the connection, ends the loop and waits for the thread. Once is enough."""
        self._finalizer()


def _thread(endpoint: Endpoint, ready: Future[tuple[Connection, asyncio.Event]]) -> None:
    try:
        asyncio.run(_serve(endpoint, ready))
    except BaseException as error:
        if ready.done():
            raise
        ready.set_exception(error)


async def _serve(endpoint: Endpoint, ready: Future[tuple[Connection, asyncio.Event]]) -> None:
    connection, stopping = Connection(endpoint), asyncio.Event()
    ready.set_result((connection, stopping))
    try:
        await stopping.wait()
    finally:
        await connection.close()


def _stop(loop: asyncio.AbstractEventLoop, stopping: asyncio.Event, thread: threading.Thread) -> None:
    loop.call_soon_threadsafe(stopping.set)
    if thread is not threading.current_thread():
        thread.join(_JOIN_SECONDS)
