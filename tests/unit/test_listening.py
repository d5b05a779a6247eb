import socket

import pytest

from lockstitch_server import listening
from lockstitch_server.listening import Address
from lockstitch_server.startup import StartupError


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:50051", Address("127.0.0.1", 50051)),
        ("localhost:0", Address("localhost", 0)),
        ("[::1]:65535", Address("[::1]", 65535)),
    ],
)
def test_an_address_is_a_host_and_a_port(text: str, address: Address) -> None:
    assert listening.parse(text) == address
    assert str(address) == text


@pytest.mark.parametrize("text", ["", "50051", ":50051", "host:", "host:x", "host:-1", "host:65536", "host:٣"])
def test_what_is_no_address_is_named(text: str) -> None:
    with pytest.raises(StartupError, match=r"HOST:PORT"):
        listening.parse(text)


def test_a_port_in_use_is_refused_even_where_it_is_shared() -> None:
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        other.bind(("127.0.0.1", 0))
        other.listen()
        address = Address("127.0.0.1", other.getsockname()[1])
        with pytest.raises(StartupError, match=f"{address} cannot be served on"):
            listening.ensure_free(address)
        with pytest.raises(StartupError, match=f"{address} cannot be served on"):
            listening.hold(address)


def test_a_held_port_is_named_and_takes_no_connections() -> None:
    held, address = listening.hold(Address("127.0.0.1", 0))
    with held, socket.socket() as client:
        assert address.port > 0
        assert client.connect_ex(("127.0.0.1", address.port)) != 0


def test_a_host_that_is_not_ours_is_named() -> None:
    with pytest.raises(StartupError, match=r"192\.0\.2\.1:1"):
        listening.ensure_free(Address("192.0.2.1", 1))


@pytest.mark.parametrize(
    ("host", "is_loopback"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("localhost", True),
        ("[::1]", True),
        ("0.0.0.0", False),  # noqa: S104 - that is what is to be refused
        ("[::]", False),
        ("192.0.2.1", False),
        ("localhost.example", False),
        ("store.example", False),
        ("*", False),
    ],
)
def test_loopback_is_what_no_other_machine_reaches(host: str, *, is_loopback: bool) -> None:
    assert listening.is_loopback(Address(host, 1)) is is_loopback
