"""A bus for clusters and connection poolers, where notifications do not reach everybody: NATS core."""

from collections.abc import Callable

import nats
import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg

from lockstitch_server.bus import BusLostError

_SECONDS_MAX = 5


class NatsBus:
    """One subject of a NATS server."""

    payload_bytes_max = 64 * 1024

    def __init__(self, url: str, store_epoch: str) -> None:
        """Stores that share a NATS server do not hear each other: the subject names the store's epoch."""
        self._url = url
        self._subject = f"lockstitch.{store_epoch}"
        self._client: Client | None = None

    async def connect(self, heard: Callable[[bytes], None]) -> None:
        """Listen on a fresh connection; it is we who connect again, so that a lost one is noticed."""

        async def listener(message: Msg) -> None:
            heard(message.data)

        async def told(_: Exception) -> None:
            """A lost connection shows when something is sent."""

        try:
            self._client = await nats.connect(
                self._url, connect_timeout=_SECONDS_MAX, allow_reconnect=False, error_cb=told, name="lockstitch-server"
            )
            await self._client.subscribe(self._subject, cb=listener)
        except (OSError, TimeoutError, nats.errors.Error) as error:
            raise BusLostError from error

    async def send(self, payload: bytes) -> None:
        """Publish, and have the server answer a ping."""
        if self._client is None:
            raise BusLostError
        try:
            await self._client.publish(self._subject, payload)
            await self._client.flush(timeout=_SECONDS_MAX)
        except (OSError, TimeoutError, nats.errors.Error) as error:
            raise BusLostError from error

    async def close(self) -> None:
        """Let the connection go."""
        client, self._client = self._client, None
        if client is not None and not client.is_closed:
            await client.close()
