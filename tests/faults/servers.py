"""The servers that traffic goes to, by name: where each is now, and the channels to it."""

import json
from base64 import urlsafe_b64decode
from typing import Any

from grpc import aio

from model import Caller
from support.streams import CHANNEL_OPTIONS

KEEPALIVE = (
    # As often as a server lets callers ask for a sign of life; a connection that gives none is made anew.
    ("grpc.keepalive_time_ms", 5000),
    ("grpc.keepalive_timeout_ms", 3000),
    ("grpc.http2.ping_timeout_ms", 3000),
)


class Servers:
    """Gives each client a connection of its own to each server, wherever that has moved."""

    def __init__(self, targets: dict[str, str], token: str) -> None:
        """All servers take the same token."""
        self.targets = dict(targets)
        self.token = token
        self._channels: dict[tuple[str, str], tuple[str, aio.Channel]] = {}
        self._left: list[aio.Channel] = []

    @property
    def headers(self) -> Any:
        return (("authorization", f"Bearer {self.token}"),)

    @property
    def caller(self) -> Caller:
        """Who the token says that its bearer is."""
        payload = self.token.split(".")[1]
        claims = json.loads(urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        return Caller(claims["tenant"], claims["sub"], claims["role"])

    def move(self, name: str, target: str) -> None:
        """Say that a server is somewhere else now, such as after a restart."""
        self.targets[name] = target

    def channel(self, name: str, client: str) -> aio.Channel:
        """Give a client's channel to a server."""
        target, channel = self._channels.get((name, client), ("", None))
        if channel is None or target != self.targets[name]:
            if channel is not None:
                self._left.append(channel)
            channel = aio.insecure_channel(self.targets[name], options=[*CHANNEL_OPTIONS, *KEEPALIVE])
            self._channels[name, client] = self.targets[name], channel
        return channel

    async def close(self) -> None:
        for channel in [*self._left, *(channel for _, channel in self._channels.values())]:
            await channel.close()
        self._channels.clear()
        self._left.clear()

    async def close_of(self, client: str) -> None:
        """Close what a client had open."""
        for key in [key for key in self._channels if key[1] == client]:
            await self._channels.pop(key)[1].close()
