"""The address to serve on, and whether it is free."""

import socket
from dataclasses import dataclass
from ipaddress import ip_address

from lockstitch_server.startup import StartupError

PORT_MAX = 65_535


@dataclass(frozen=True, slots=True)
class Address:
    """A host, in the words of its operator, and a port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def parse(listen: str) -> Address:
    """Read `HOST:PORT`; an IPv6 host stands in brackets."""
    host, _, port = listen.rpartition(":")
    if not host or not port.isascii() or not port.isdecimal() or int(port) > PORT_MAX:
        raise StartupError(f"the address to serve on is HOST:PORT, and {listen!r} is not")
    return Address(host, int(port))


def is_loopback(address: Address) -> bool:
    """Whether nobody on another machine can reach an address."""
    host = address.host.strip("[]")
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def ensure_free(address: Address) -> None:
    """Refuse a port that somebody serves on.

    gRPC's own bind would not always notice: where both sides share ports, each would take half the calls.
    """
    _bound(address, share=False).close()


def hold(address: Address) -> tuple[socket.socket, Address]:
    """Reserve a port for processes that share it, and name it; the socket takes no connections itself."""
    ensure_free(address)
    held = _bound(address, share=True)
    return held, Address(address.host, held.getsockname()[1])


def _bound(address: Address, *, share: bool) -> socket.socket:
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(
            address.host.strip("[]"), address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        made = socket.socket(family, kind, protocol)
    except OSError as error:
        raise StartupError(f"there is no address {address} to serve on: {error.strerror}") from error
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT if share else socket.SO_REUSEADDR, 1)
        made.bind(where)
    except OSError as error:
        made.close()
        raise StartupError(f"the address {address} cannot be served on: {error.strerror}") from error
    return made
