"""The bus that every Postgres has: LISTEN and NOTIFY, on one connection of their own."""

import base64
import binascii
import contextlib
from collections.abc import Callable

import asyncpg

from lockstitch_server.bus import BusLostError
from lockstitch_server.store.pool import APP_ROLE, DEAD_ENDS

CHANNEL = "lockstitch"
_SECONDS_MAX = 5.0
_FAILURES = (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)


class PostgresBus:
    """Notifications of one database. Never sent in a write's transaction: that would queue all writers behind it."""

    payload_bytes_max = 5000
    """As Base64 this stays below the 8,000 bytes that a notification may have."""

    def __init__(self, database_url: str) -> None:
        """Nothing is opened yet."""
        self._url = database_url
        self._connection: asyncpg.Connection | None = None

    async def connect(self, heard: Callable[[bytes], None]) -> None:
        """Listen on a fresh connection."""

        def listener(_: object, __: int, ___: str, payload: object) -> None:
            # Anybody who may connect can notify: what is no payload of ours wakes nobody.
            with contextlib.suppress(binascii.Error):
                heard(base64.b64decode(str(payload), validate=True))

        try:
            self._connection = await asyncpg.connect(
                self._url,
                timeout=_SECONDS_MAX,
                command_timeout=_SECONDS_MAX,
                server_settings={"application_name": "lockstitch-listener", "role": APP_ROLE, **DEAD_ENDS},
            )
            await self._connection.add_listener(CHANNEL, listener)
        except _FAILURES as error:
            raise BusLostError from error

    async def send(self, payload: bytes) -> None:
        """Notify everybody, ourselves included: the statement is the ping of the connection, too."""
        if self._connection is None:
            raise BusLostError
        try:
            await self._connection.execute("select pg_notify($1, $2)", CHANNEL, base64.b64encode(payload).decode())
        except _FAILURES as error:
            raise BusLostError from error

    async def close(self) -> None:
        """Let the connection go."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.terminate()
