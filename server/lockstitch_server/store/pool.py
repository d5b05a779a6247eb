"""Connections to Postgres, held open and lent for one statement at a time."""

import asyncio
import contextlib
from collections import deque
from datetime import timedelta

import asyncpg

from lockstitch_server.errors import DatabaseUnavailable, Overloaded
from lockstitch_server.store import failures

APP_ROLE = "lockstitch_app"
BACKGROUND_ROLE = "lockstitch_background"
_CONNECT_SECONDS = 5.0
DEAD_ENDS = {"tcp_keepalives_idle": "30", "tcp_keepalives_interval": "10", "tcp_keepalives_count": "3"}
"""Postgres asks a silent connection whether we are still there, and lets it go after a minute.

By itself it would take two hours, in which connections that the network forgot use up those that it may have.
"""
_SLACK_SECONDS = 2.0
_LAST_STATEMENTS_SECONDS = 3.0
_CLOSE_SECONDS = 2.0


class Pool:
    """A free list of connections. A statement is a transaction, so nothing needs to be reset when one comes back.

    A statement that was begun is always finished, even when its caller has gone: cancelling it would open another
    connection and leave the outcome unknown. `statement_timeout` bounds what that can cost.
    """

    def __init__(
        self,
        database_url: str,
        *,
        connections_max: int,
        wait: timedelta,
        queue_max: int = 10_000,
        statement_timeout: timedelta,
        role: str = APP_ROLE,
    ) -> None:
        """Nothing is opened yet; connections work as `role`.

        `wait` is how long a caller waits for a connection before OVERLOADED, `queue_max` how many wait at once.
        """
        self._url = database_url
        self._role = role
        self._connections_max = connections_max
        self._wait = wait.total_seconds()
        self._queue_max = queue_max
        self._statement_timeout = statement_timeout
        self._free: deque[asyncpg.Connection] = deque()
        self._waiting: deque[asyncio.Future[asyncpg.Connection | None]] = deque()
        self._running: dict[asyncio.Task[list[asyncpg.Record]], asyncpg.Connection] = {}
        self._opening: set[asyncio.Task[asyncpg.Connection]] = set()
        self._open = 0
        self._closed = False

    async def warm_up(self, connections: int) -> None:
        """Have so many connections open, as far as the database lets us: opening takes longer than callers wait."""
        missing = min(connections, self._connections_max) - self._open
        opened = await asyncio.gather(*(self._connect() for _ in range(missing)), return_exceptions=True)
        for connection in opened:
            if isinstance(connection, asyncpg.Connection):
                self._give_back(connection)
            elif not isinstance(connection, DatabaseUnavailable):
                raise connection

    async def fetch(self, query: str, *args: object) -> list[asyncpg.Record]:
        """Run one statement; raises Overloaded or DatabaseUnavailable where it was not sent, else ConnectionLost."""
        return await self._fetch(query, args, None)

    async def fetch_long(self, time_max: timedelta, query: str, *args: object) -> list[asyncpg.Record]:
        """Run one statement likewise, which may take so long."""
        return await self._fetch(query, args, time_max)

    async def _fetch(self, query: str, args: tuple[object, ...], time_max: timedelta | None) -> list[asyncpg.Record]:
        connection = await self._take()
        task = asyncio.ensure_future(self._run(connection, query, args, time_max))
        self._running[task] = connection
        task.add_done_callback(self._finished)
        return await asyncio.shield(task)

    @property
    def busy(self) -> int:
        """How many statements run."""
        return len(self._running)

    @property
    def waiting(self) -> int:
        """How many callers wait for a connection."""
        return sum(not waiter.done() for waiter in self._waiting)

    async def close(self) -> None:
        """Let running statements end, then close every connection; in seconds, whatever the database does."""
        self._closed = True
        free, self._free = self._free, deque()
        await asyncio.gather(self._end_statements(), *(_closed(connection) for connection in free))

    async def _end_statements(self) -> None:
        if unfinished := [*self._running, *self._opening]:
            await asyncio.wait(unfinished, timeout=_LAST_STATEMENTS_SECONDS)
        for connection in self._running.values():
            connection.terminate()
        for opening in self._opening:
            opening.cancel()
        if unfinished := [*self._running, *self._opening]:
            await asyncio.wait(unfinished, timeout=_CLOSE_SECONDS)

    def _finished(self, task: asyncio.Task[list[asyncpg.Record]]) -> None:
        del self._running[task]
        if not task.cancelled():
            # Mark it as seen: whoever asked may have gone.
            task.exception()

    async def _run(
        self, connection: asyncpg.Connection, query: str, args: tuple[object, ...], time_max: timedelta | None
    ) -> list[asyncpg.Record]:
        try:
            if time_max is None:
                return await connection.fetch(query, *args)
            return await self._run_long(connection, query, args, time_max)
        except failures.LOST as error:
            connection.terminate()
            raise failures.ConnectionLost from error
        except (asyncpg.InterfaceError, asyncpg.InternalClientError) as error:
            # Where it broke while a statement was being prepared, asyncpg says so in its own words.
            if connection.is_closed():
                raise failures.ConnectionLost from error
            raise
        finally:
            self._give_back(connection)

    async def _run_long(
        self, connection: asyncpg.Connection, query: str, args: tuple[object, ...], time_max: timedelta
    ) -> list[asyncpg.Record]:
        await connection.execute(f"set statement_timeout = {_milliseconds(time_max)}")
        try:
            return await connection.fetch(query, *args, timeout=(time_max.total_seconds() + _SLACK_SECONDS))
        finally:
            if not connection.is_closed():
                await connection.execute(f"set statement_timeout = {_milliseconds(self._statement_timeout)}")

    async def _take(self) -> asyncpg.Connection:
        while self._free:
            connection = self._free.pop()
            if not connection.is_closed():
                return connection
            self._open -= 1
        if self._closed:
            raise DatabaseUnavailable
        if self._open < self._connections_max:
            return await self._connect()
        if len(self._waiting) >= self._queue_max:
            raise Overloaded(
                f"{self._queue_max} calls wait for a database connection.", retry_after=timedelta(seconds=self._wait)
            )
        waiter: asyncio.Future[asyncpg.Connection | None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        try:
            async with asyncio.timeout(self._wait):
                connection_or_none = await waiter
        except BaseException as error:
            if waiter.done() and not waiter.cancelled():
                # It was handed over in the very moment of giving up.
                self._pass_on(waiter.result())
            else:
                waiter.cancel()
            if isinstance(error, TimeoutError):
                sentence = f"No database connection came free within {self._wait:g} s."
                raise Overloaded(sentence, retry_after=timedelta(seconds=self._wait)) from None
            raise
        return connection_or_none or await self._connect()

    def _pass_on(self, connection: asyncpg.Connection | None) -> None:
        if connection is None:
            self._wake_one()
        else:
            self._give_back(connection)

    async def _connect(self) -> asyncpg.Connection:
        """Open one more, to its end even when its caller has gone: cancelled, asyncpg may leave it open and unknown."""
        self._open += 1
        opening = asyncio.ensure_future(self._opened())
        self._opening.add(opening)
        opening.add_done_callback(self._opening.discard)
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(self._keep)
            raise

    def _keep(self, opening: asyncio.Task[asyncpg.Connection]) -> None:
        if not opening.cancelled() and opening.exception() is None:
            self._give_back(opening.result())

    async def _opened(self) -> asyncpg.Connection:
        try:
            return await asyncpg.connect(
                self._url,
                timeout=_CONNECT_SECONDS,
                command_timeout=self._statement_timeout.total_seconds() + _SLACK_SECONDS,
                server_settings={
                    "application_name": "lockstitch-server",
                    "role": self._role,
                    **DEAD_ENDS,
                    "statement_timeout": str(_milliseconds(self._statement_timeout)),
                    "timezone": "UTC",
                    "jit": "off",
                    # A plan made while the tables were empty is kept: it must not read them whole when they are full,
                    # nor all rows of a session through a bitmap, which on one page is the cheapest of all.
                    "enable_seqscan": "off",
                    "enable_bitmapscan": "off",
                    "enable_hashjoin": "off",
                    "enable_mergejoin": "off",
                },
            )
        except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            self._open -= 1
            self._wake_one()
            raise DatabaseUnavailable from error
        except BaseException:
            self._open -= 1
            self._wake_one()
            raise

    def _give_back(self, connection: asyncpg.Connection) -> None:
        if connection.is_closed() or self._closed:
            self._open -= 1
            connection.terminate()
            self._wake_one()
            return
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(connection)
                return
        self._free.append(connection)

    def _wake_one(self) -> None:
        """A place came free, but no connection: let one who waits open it."""
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return


async def _closed(connection: asyncpg.Connection) -> None:
    # Where the database does not answer, it is cut off; nothing is lost by that.
    with contextlib.suppress(*failures.LOST, asyncpg.InterfaceError, asyncpg.InternalClientError):
        await connection.close(timeout=_CLOSE_SECONDS)


def _milliseconds(time: timedelta) -> int:
    return int(time.total_seconds() * 1000)
