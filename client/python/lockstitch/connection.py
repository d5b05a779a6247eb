"""A channel to a server, and the stubs on it. It belongs to the event loop that made it."""

import asyncio
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Self

import grpc

from lockstitch.v1.admin_service_pb2_grpc import AdminServiceStub
from lockstitch.v1.checkpoint_service_pb2_grpc import CheckpointServiceStub
from lockstitch.v1.run_service_pb2_grpc import RunServiceStub
from lockstitch.v1.session_service_pb2_grpc import SessionServiceStub

Tls = bool | bytes | grpc.ChannelCredentials | None
"""How to speak to a server; :class:`lockstitch.Client` says what each means."""

KEEPALIVE_MILLISECONDS = 5500
"""A connection that has been silent for so long while a call waits is asked for a sign of life.

A server of ours lets callers ask every five seconds. Others hang up after the third question in a row, which gRPC never
asks: it stops after two, until something else is sent.
"""
_SIGN_OF_LIFE_MILLISECONDS = 3000
"""And is made anew where none comes for so long: with a second left of the ten that a call has by default."""

_CHANNEL_OPTIONS: tuple[tuple[str, int], ...] = (
    # Retries are the client's: two layers would multiply their attempts (lockstitch.retries).
    ("grpc.enable_retries", 0),
    # A server that was restarted is found again within a second; gRPC's own backoff grows to two minutes.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
    # Channels of a process that are alike share one TCP connection, so that a new one would not replace a dead one.
    ("grpc.use_local_subchannel_pool", 1),
    # A network that died without a word is noticed while a call waits; nothing is asked of an idle connection.
    ("grpc.keepalive_time_ms", KEEPALIVE_MILLISECONDS),
    ("grpc.keepalive_timeout_ms", _SIGN_OF_LIFE_MILLISECONDS),
    ("grpc.http2.ping_timeout_ms", _SIGN_OF_LIFE_MILLISECONDS),
)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a server is, and how to speak to it."""

    target: str
    credentials: grpc.ChannelCredentials | None
    """None for plain text."""

    @classmethod
    def of(cls, target: str, tls: Tls) -> Self:
        """The endpoint of a target; ``tls`` as :class:`lockstitch.Client` takes it."""
        if tls is None:
            tls = not is_local(target)
        if tls is True:
            return cls(target, grpc.ssl_channel_credentials())
        if tls is False:
            return cls(target, None)
        if isinstance(tls, bytes):
            return cls(target, grpc.ssl_channel_credentials(root_certificates=tls))
        return cls(target, tls)


class Connection:
    """A channel and its stubs, made on the running loop and used on no other."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.loop = asyncio.get_running_loop()
        self._endpoint = endpoint
        self._open()

    def renew(self, suspect: grpc.aio.Channel) -> None:
        """Replaces a channel whose network went dead without a word. Calls in flight on it end by themselves."""
        if self.channel is suspect:
            self._open()

    def _open(self) -> None:
        options, credentials = list(_CHANNEL_OPTIONS), self._endpoint.credentials
        if credentials is None:
            self.channel = grpc.aio.insecure_channel(self._endpoint.target, options=options)
        else:
            self.channel = grpc.aio.secure_channel(self._endpoint.target, credentials, options=options)
        self.sessions = SessionServiceStub(self.channel)
        self.runs = RunServiceStub(self.channel)
        self.checkpoints = CheckpointServiceStub(self.channel)
        self.admin = AdminServiceStub(self.channel)

    async def close(self) -> None:
        """Ends the channel and what is in flight on it."""
        await self.channel.close()


def is_local(target: str) -> bool:
    """Whether a gRPC target can't leave this machine: a loopback address, ``localhost`` or a Unix socket."""
    scheme, separator, rest = target.partition(":")
    if scheme in {"unix", "unix-abstract"} and separator:
        return True
    address = rest if scheme in {"dns", "ipv4", "ipv6"} else target
    # A list of addresses is local where each of them is.
    return all(_is_loopback(one) for one in address.rpartition("/")[2].split(","))


def _is_loopback(address: str) -> bool:
    if address.startswith("["):
        host = address[1:].partition("]")[0]
    elif address.count(":") > 1:
        host = address
    else:
        host = address.partition(":")[0]
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"
