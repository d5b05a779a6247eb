"""The keys that tokens are verified by: our own, or an issuer's, read from a file or a URL and read again."""

import asyncio
import contextlib
import http.client
import json
import time
import urllib.request
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

import jwt
import structlog
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from lockstitch_server import tasks
from lockstitch_server.auth.keys import SigningKey
from lockstitch_server.startup import StartupError

PublicKey = Ed25519PublicKey | EllipticCurvePublicKey | RSAPublicKey

ALGORITHMS = frozenset({"EdDSA", "ES256", "RS256"})
"""All that a signature may be made with: none that shares a secret, none that is "none"."""

RSA_BITS_MIN = 2048
FETCH_SECONDS_MAX = 5.0
"""How long an issuer may take, whether it is silent or never comes to an end."""

BYTES_MAX = 1024 * 1024
UNKNOWN_KEY_INTERVAL = timedelta(seconds=10)
"""How often a token with an unknown key makes the set be read again: forged ones must not load the issuer."""
FILE_INTERVAL = timedelta(seconds=1)
"""How often a file is looked at: it costs nobody anything."""

_UNREADABLE = (OSError, ValueError, http.client.HTTPException)
"""What reading keys may end with, a timeout among it."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class VerifyingKey:
    """A public key, and the one algorithm that it is for."""

    public: PublicKey
    algorithm: str


class KeySet(Protocol):
    """Keys by their ids."""

    def find(self, key_id: str | None) -> VerifyingKey | None:
        """The key of an id, or the only one where the token names none."""

    async def refresh(self) -> None:
        """Look whether there are newer keys, unless that was just done."""


class OwnKeys:
    """The data folder's own signing key."""

    def __init__(self, key: SigningKey) -> None:
        """One key, which does not change while the server runs."""
        self._key_id = key.key_id
        self._key = VerifyingKey(key.private.public_key(), "EdDSA")

    def find(self, key_id: str | None) -> VerifyingKey | None:
        """The key, by its id."""
        return self._key if key_id == self._key_id else None

    async def refresh(self) -> None:
        """There is nothing newer."""


class IssuerKeys:
    """An issuer's keys (a JWKS, RFC 7517), from a file or a URL.

    They are read at the start, every `refresh_interval` (a file every second), and when a token names a key that is not
    among them. While they can't be read the old ones are good for `stale_max`.
    """

    def __init__(
        self,
        location: str,
        *,
        refresh_interval: timedelta,
        stale_max: timedelta,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Nothing is read before `running`."""
        self.location = location
        is_file = urlsplit(location).scheme in _FILE_SCHEMES
        interval = min(refresh_interval, FILE_INTERVAL) if is_file else refresh_interval
        self._refresh_seconds = interval.total_seconds()
        self._again_seconds = 0.0 if is_file else UNKNOWN_KEY_INTERVAL.total_seconds()
        self._stale_seconds = stale_max.total_seconds()
        self._now = now
        self._content = b""
        self._keys: dict[str | None, VerifyingKey] = {}
        self._read_at = float("-inf")
        self._tried_at = float("-inf")
        self._reading = asyncio.Lock()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Read the keys, and go on doing so, until the context ends; raises StartupError where that fails at first."""
        try:
            await self._read()
        except _UNREADABLE as error:
            raise StartupError(f"the keys of {self.location} cannot be read: {_said(error)}") from error
        task = asyncio.create_task(self._read_forever(), name="issuer keys")
        try:
            yield
        finally:
            await tasks.ended(task)

    def find(self, key_id: str | None) -> VerifyingKey | None:
        """The key of an id; without an id the only one that there is."""
        if self._now() - self._read_at > self._stale_seconds:
            return None
        if key_id is None:
            return next(iter(self._keys.values())) if len(self._keys) == 1 else None
        return self._keys.get(key_id)

    async def refresh(self) -> None:
        """Read the keys again, unless that was just tried."""
        async with self._reading:
            if self._now() - self._tried_at >= self._again_seconds:
                await self._try()

    async def _read_forever(self) -> None:
        while True:
            await asyncio.sleep(self._refresh_seconds)
            async with self._reading:
                await self._try()

    async def _try(self) -> None:
        self._tried_at = self._now()
        try:
            await self._read()
        except _UNREADABLE as error:
            _log.warning("an issuer's keys could not be read again", location=self.location, error=_said(error))

    async def _read(self) -> None:
        async with asyncio.timeout(2 * FETCH_SECONDS_MAX):
            content = await asyncio.to_thread(_fetch, self.location)
        if content != self._content:
            # Keys that did not change stay the same objects, and what was verified by them stays remembered.
            self._keys, self._content = parse(content), content
        self._read_at = self._tried_at = self._now()


def parse(content: bytes) -> dict[str | None, VerifyingKey]:
    """The keys of a JWKS that may verify here, by their ids; raises ValueError where it is none, or has none."""
    try:
        members = json.loads(content)["keys"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ValueError("it is not a JSON Web Key Set") from None
    keys: dict[str | None, VerifyingKey] = {}
    for member in members if isinstance(members, list) else ():
        key = _key_of(member) if isinstance(member, dict) else None
        if key is not None:
            key_id = member.get("kid")
            keys[key_id if isinstance(key_id, str) else None] = key
    if not keys:
        raise ValueError(f"it has no key for {', '.join(sorted(ALGORITHMS))}")
    return keys


def _key_of(member: dict[str, Any]) -> VerifyingKey | None:
    """The key that a member is, where it is one for signatures, of a kind that is allowed, and long enough."""
    if member.get("use") not in (None, "sig"):
        return None
    kind = (member.get("kty"), member.get("crv"))
    try:
        if kind == ("OKP", "Ed25519"):
            found = VerifyingKey(_public(OKPAlgorithm.from_jwk(member)), "EdDSA")
        elif kind == ("EC", "P-256"):
            found = VerifyingKey(_public(ECAlgorithm.from_jwk(member)), "ES256")
        elif member.get("kty") == "RSA":
            found = VerifyingKey(_public(RSAAlgorithm.from_jwk(member)), "RS256")
        else:
            return None
    except (jwt.PyJWTError, UnsupportedAlgorithm, ValueError, TypeError, KeyError, AttributeError):
        return None
    if isinstance(found.public, RSAPublicKey) and found.public.key_size < RSA_BITS_MIN:
        return None
    return found if member.get("alg") in (None, found.algorithm) else None


def _public(key: Any) -> PublicKey:  # noqa: ANN401 - private or public, as the library gives it
    public: PublicKey = key.public_key() if hasattr(key, "private_bytes") else key
    return public


def _said(error: Exception) -> str:
    return str(error) or type(error).__name__


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Keys come from where the settings say, not from where an answer points to, which may be plain text."""

    def redirect_request(self, *_: object, **__: object) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirect)
_FILE_SCHEMES = frozenset({"", "file"})


def _fetch(location: str) -> bytes:
    parts = urlsplit(location)
    if parts.scheme in _FILE_SCHEMES:
        return Path(unquote(parts.path) if parts.scheme else location).read_bytes()
    if parts.scheme not in {"https", "http"}:
        raise ValueError("it must be a file or an http(s) URL")
    ends = time.monotonic() + FETCH_SECONDS_MAX
    request = urllib.request.Request(location, headers={"Accept": "application/json"})  # noqa: S310 - as just checked
    content = bytearray()
    with contextlib.closing(_OPENER.open(request, timeout=FETCH_SECONDS_MAX)) as answer:
        # The timeout is of each piece: an answer could come byte by byte for ever.
        while piece := answer.read1(BYTES_MAX):
            content += piece
            if len(content) > BYTES_MAX:
                raise ValueError(f"it is larger than {BYTES_MAX} bytes")
            if time.monotonic() > ends:
                raise TimeoutError(f"it took longer than {FETCH_SECONDS_MAX:g} s")
    return bytes(content)
