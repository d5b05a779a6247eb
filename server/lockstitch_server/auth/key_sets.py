"""The keys that tokens are verified by: our own, or an issuer's, read from a file or a URL and read again."""

import asyncio
import contextlib
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
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from lockstitch_server.auth.keys import SigningKey
from lockstitch_server.startup import StartupError

PublicKey = Ed25519PublicKey | EllipticCurvePublicKey | RSAPublicKey

ALGORITHMS = frozenset({"EdDSA", "ES256", "RS256"})
"""All that a signature may be made with: none that shares a secret, none that is "none"."""

RSA_BITS_MIN = 2048
FETCH_SECONDS_MAX = 5.0
BYTES_MAX = 1024 * 1024
UNKNOWN_KEY_INTERVAL = timedelta(seconds=10)
"""How often a token with an unknown key makes the set be read again: forged ones must not load the issuer."""

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

    They are read at the start, every `refresh_interval`, and when a token names a key that is not among them. While
    they can't be read the old ones are good for `stale_max`.
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
        self._refresh_seconds = refresh_interval.total_seconds()
        self._stale_seconds = stale_max.total_seconds()
        self._now = now
        self._keys: dict[str | None, VerifyingKey] = {}
        self._read_at = float("-inf")
        self._tried_at = float("-inf")
        self._reading = asyncio.Lock()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Read the keys, and go on doing so, until the context ends; raises StartupError where they can't be read first."""
        try:
            await self._read()
        except (OSError, ValueError) as error:
            raise StartupError(f"the keys of {self.location} cannot be read: {error}") from error
        task = asyncio.create_task(self._read_forever(), name="issuer keys")
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

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
            if self._now() - self._tried_at >= UNKNOWN_KEY_INTERVAL.total_seconds():
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
        except (OSError, ValueError) as error:
            _log.warning("an issuer's keys could not be read again", location=self.location, error=str(error))

    async def _read(self) -> None:
        content = await asyncio.to_thread(_fetch, self.location)
        self._keys = parse(content)
        self._read_at = self._tried_at = self._now()


def parse(content: bytes) -> dict[str | None, VerifyingKey]:
    """The keys of a JWKS that may verify here, by their ids; raises ValueError where it is none, or has none."""
    try:
        members = json.loads(content)["keys"]
    except (ValueError, KeyError, TypeError):
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
    if member.get("use") not in {None, "sig"}:
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
    except (jwt.InvalidKeyError, ValueError, TypeError):
        return None
    if isinstance(found.public, RSAPublicKey) and found.public.key_size < RSA_BITS_MIN:
        return None
    return found if member.get("alg") in {None, found.algorithm} else None


def _public(key: Any) -> PublicKey:
    public: PublicKey = key.public_key() if hasattr(key, "private_bytes") else key
    return public


def _fetch(location: str) -> bytes:
    parts = urlsplit(location)
    if parts.scheme in {"", "file"}:
        return Path(unquote(parts.path)).read_bytes()
    if parts.scheme not in {"https", "http"}:
        raise ValueError("it must be a file or an http(s) URL")
    request = urllib.request.Request(location, headers={"Accept": "application/json"})  # noqa: S310 - as just checked
    with contextlib.closing(urllib.request.urlopen(request, timeout=FETCH_SECONDS_MAX)) as answer:  # noqa: S310 - likewise
        content: bytes = answer.read(BYTES_MAX + 1)
    if len(content) > BYTES_MAX:
        raise ValueError(f"it is larger than {BYTES_MAX} bytes")
    return content
