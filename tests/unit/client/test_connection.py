import grpc
import pytest

from lockstitch.connection import Endpoint, is_local


@pytest.mark.parametrize(
    "target",
    [
        "127.0.0.1:50051",
        "localhost:50051",
        "LOCALHOST",
        "[::1]:50051",
        "::1",
        "127.8.9.1:1",
        "ipv4:127.0.0.1:50051",
        "ipv4:127.0.0.1:1,127.0.0.2:1",
        "ipv6:[::1]:50051",
        "dns:///localhost:50051",
        "dns:localhost:50051",
        "unix:/run/lockstitch.sock",
        "unix:///run/lockstitch.sock",
        "unix-abstract:lockstitch",
    ],
)
def test_what_can_not_leave_the_machine_is_plain_by_default(target: str) -> None:
    assert is_local(target)
    assert Endpoint.of(target, None).credentials is None


@pytest.mark.parametrize(
    "target",
    [
        "store.example.org:443",
        "localhost.example.org:443",
        "10.0.0.1:50051",
        "[2001:db8::1]:50051",
        "ipv4:127.0.0.1:1,10.0.0.1:1",
        "dns:///store.example.org:443",
        "dns://localhost/store.example.org:443",
        "unix",
        "",
    ],
)
def test_all_else_is_tls_by_default(target: str) -> None:
    assert not is_local(target)
    assert Endpoint.of(target, None).credentials is not None


def test_tls_can_be_said_by_name() -> None:
    assert Endpoint.of("store.example.org:1", tls=False).credentials is None
    assert Endpoint.of("127.0.0.1:1", tls=True).credentials is not None
    assert Endpoint.of("127.0.0.1:1", tls=b"-----BEGIN CERTIFICATE-----").credentials is not None
    own = grpc.ssl_channel_credentials()
    assert Endpoint.of("127.0.0.1:1", tls=own).credentials is own
