import asyncio
import json
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from hypothesis import given
from hypothesis import strategies as st

from lockstitch_server.auth import key_sets
from lockstitch_server.auth.key_sets import IssuerKeys, parse
from lockstitch_server.startup import StartupError
from support.issuing import KeyServer, ProviderKey, key_server, key_set
from support.waiting import until

HOUR = timedelta(hours=1)
OLD, NEW = ProviderKey("old"), ProviderKey("new", "ES256")


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def served() -> Iterator[KeyServer]:
    with key_server(key_set(OLD)) as server:
        yield server


def keys_of(location: str | Path, clock: Clock, **settings: Any) -> IssuerKeys:
    settings = {"refresh_interval": HOUR, "stale_max": HOUR} | settings
    return IssuerKeys(str(location), now=clock, **settings)


@pytest.mark.parametrize("algorithm", ["EdDSA", "ES256", "RS256"])
def test_a_key_is_for_one_algorithm(algorithm: str) -> None:
    ((key_id, key),) = parse(key_set(ProviderKey("k", algorithm))).items()
    assert (key_id, key.algorithm) == ("k", algorithm)


@pytest.mark.parametrize(
    "change",
    [
        {"kty": "oct", "k": "c2VjcmV0"},
        {"use": "enc"},
        {"use": ["sig"]},
        {"alg": "HS256"},
        {"alg": "EdDSA"},
        {"alg": ["RS256"]},
        {"n": None},
        {"n": 7},
        {"n": "AQAB"},
        {"e": "!"},
        {"crv": "P-384", "kty": "EC"},
        {"kty": {}},
    ],
)
def test_what_is_no_key_for_signatures_here_is_left_out(change: dict[str, Any]) -> None:
    good = ProviderKey("good")
    odd = ProviderKey("odd", "RS256").jwk | change
    found = parse(json.dumps({"keys": [odd, good.jwk, "no object", None]}).encode())
    assert list(found) == ["good"]


@pytest.mark.parametrize("algorithm", ["ES384"])
def test_other_curves_are_left_out(algorithm: str) -> None:
    with pytest.raises(ValueError, match="no key for"):
        parse(key_set(ProviderKey("k", algorithm)))


def test_a_short_key_is_left_out() -> None:
    short = ProviderKey("short", "RS256", rsa.generate_private_key(65537, 1024))  # noqa: S505 - that is the point
    with pytest.raises(ValueError, match="no key for"):
        parse(key_set(short))


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b'{"keys":{}}', b'{"keys":[]}', b"\xff", b"[" * 100_000, b"<html>", b'{"keys":[[]]}']
)
def test_what_is_no_key_set_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match="it "):
        parse(content)


members = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=8)
    | st.sampled_from(["RSA", "EC", "OKP", "AQAB", "P-256"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
jwks = st.dictionaries(st.sampled_from(["kty", "crv", "x", "y", "n", "e", "d", "use", "alg", "kid", "k"]), members)


@given(st.lists(jwks | members, max_size=3))
def test_no_key_set_ends_the_reading_of_keys(keys: list[Any]) -> None:
    with suppress(ValueError):
        parse(json.dumps({"keys": keys}).encode())


async def test_a_rewritten_file_is_read_at_once(tmp_path: Path) -> None:
    file, clock = tmp_path / "keys.json", Clock()
    file.write_bytes(key_set(OLD))
    keys = keys_of(file, clock)
    async with keys.running():
        assert keys.find("old")
        file.write_bytes(key_set(NEW))
        await keys.refresh()
        assert keys.find("new")
        assert keys.find("old") is None


async def test_a_rewritten_file_is_noticed_though_nobody_asks(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    file.write_bytes(key_set(OLD))
    keys = keys_of(file.as_uri(), Clock())
    async with keys.running():
        file.write_bytes(key_set(NEW))
        await until(lambda: keys.find("old") is None, "the old key's end")


async def test_a_key_that_stays_is_the_same_key(served: KeyServer) -> None:
    clock = Clock()
    keys = keys_of(served.url, clock)
    async with keys.running():
        before = keys.find("old")
        clock.now += 60
        await keys.refresh()
        assert served.asked == 2
        assert keys.find("old") is before


async def test_a_url_is_asked_again_every_interval(served: KeyServer) -> None:
    keys = keys_of(served.url, Clock(), refresh_interval=timedelta(seconds=0.05))
    async with keys.running():
        served.content = key_set(NEW)
        await until(lambda: keys.find("new") is not None, "the new key")
        assert keys.find("old") is None


async def test_unknown_keys_make_a_url_be_asked_once_in_a_while(served: KeyServer) -> None:
    clock = Clock()
    keys = keys_of(served.url, clock)
    async with keys.running():
        for _ in range(50):
            await keys.refresh()
        assert served.asked == 1
        clock.now += key_sets.UNKNOWN_KEY_INTERVAL.total_seconds()
        await asyncio.gather(*(keys.refresh() for _ in range(50)))
        assert served.asked == 2


def _nothing(handler: BaseHTTPRequestHandler) -> None:
    handler.close_connection = True


def _garbage(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"\x00\xff garbage\r\n\r\n")


def _error(handler: BaseHTTPRequestHandler) -> None:
    handler.send_error(503)


def _page(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    handler.wfile.write(b"<html>")


def _cut_off(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "5000")
    handler.end_headers()
    handler.wfile.write(b'{"keys":')


def _redirect(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(302)
    handler.send_header("Location", handler.path)
    handler.end_headers()


def _endless(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    while True:
        handler.wfile.write(b" " * 65536)


def _slow(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    while True:
        handler.wfile.write(b" ")
        time.sleep(0.02)


MISBEHAVIOURS = [_nothing, _garbage, _error, _page, _cut_off, _redirect, _endless, _slow]


@pytest.mark.parametrize("behave", MISBEHAVIOURS)
async def test_an_outage_is_ridden_out_for_as_long_as_is_allowed(
    served: KeyServer, monkeypatch: pytest.MonkeyPatch, behave: Any
) -> None:
    monkeypatch.setattr(key_sets, "FETCH_SECONDS_MAX", 0.3)
    clock = Clock()
    keys = keys_of(served.url, clock, stale_max=timedelta(seconds=100))
    async with keys.running():
        served.behave = behave
        clock.now += 100
        await keys.refresh()
        assert served.asked == 2
        assert keys.find("old")
        clock.now += 1
        assert keys.find("old") is None
        served.behave = served.serve
        clock.now += 10
        await keys.refresh()
        assert keys.find("old")


async def test_a_slow_issuer_blocks_nobody_whose_key_is_known(
    served: KeyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_sets, "FETCH_SECONDS_MAX", 1.0)
    clock = Clock()
    keys = keys_of(served.url, clock)
    async with keys.running():
        served.behave = _slow
        clock.now += 60
        waiting = asyncio.create_task(keys.refresh())
        await until(lambda: served.asked == 2, "the question")
        assert keys.find("old")
        assert not waiting.done()
        await waiting


@pytest.mark.parametrize("behave", MISBEHAVIOURS)
async def test_a_start_without_keys_is_refused_in_one_sentence(
    served: KeyServer, monkeypatch: pytest.MonkeyPatch, behave: Any
) -> None:
    monkeypatch.setattr(key_sets, "FETCH_SECONDS_MAX", 0.3)
    served.behave = behave
    with pytest.raises(StartupError, match=f"the keys of {served.url} cannot be read: ."):
        async with keys_of(served.url, Clock()).running():
            pass


@pytest.mark.parametrize("location", ["/nowhere/keys.json", "ftp://idp.example/keys", "http://127.0.0.1:1/keys"])
async def test_a_place_without_keys_is_named(location: str) -> None:
    with pytest.raises(StartupError, match=r"the keys of .* cannot be read: .") as caught:
        async with keys_of(location, Clock()).running():
            pass
    assert location in str(caught.value)
    assert "\n" not in str(caught.value)
