"""Tokens: a signed statement of tenant, subject and role, and who is believed."""

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeGuard

import jwt

from lockstitch_server.auth.keys import SigningKey
from lockstitch_server.errors import TokenExpired, TokenInvalid
from lockstitch_server.model import CallerRole, Principal

NAME = "lockstitch"
"""Issuer and audience: our own server signs for itself."""

ALGORITHM = "EdDSA"
LEEWAY = timedelta(seconds=60)
"""How far two machines' clocks may be apart."""

TOKEN_BYTES_MAX = 8 * 1024
NAME_CHARACTERS_MAX = 128
CALLERS = (CallerRole.USER, CallerRole.ENGINE, CallerRole.ADMIN)
CACHE_TOKENS_MAX = 10_000


class TokenSigner:
    """Signs tokens with the data folder's key."""

    def __init__(self, key: SigningKey, now: Callable[[], float] = time.time) -> None:
        self._key = key
        self._now = now

    def sign(self, *, tenant: str, subject: str, role: CallerRole, ttl: timedelta) -> str:
        """Return a token; a name that no verifier would take is a ValueError."""
        if role not in CALLERS:
            raise ValueError(f"a token cannot have the role {role}")
        for what, name in (("tenant", tenant), ("user", subject)):
            if not is_name(name):
                raise ValueError(f"the {what} must be 1 to {NAME_CHARACTERS_MAX} printable characters")
        issued = int(self._now())
        claims = {
            "iss": NAME,
            "aud": NAME,
            "iat": issued,
            "nbf": issued,
            "exp": issued + int(ttl.total_seconds()),
            "tenant": tenant,
            "sub": subject,
            "role": role.value,
        }
        return jwt.encode(claims, self._key.private, ALGORITHM, headers={"kid": self._key.key_id})


class TokenVerifier:
    """Says who calls. What was verified once is remembered until it expires, since a signature costs 100 µs."""

    def __init__(self, key: SigningKey, now: Callable[[], float] = time.time) -> None:
        self._key_id = key.key_id
        self._public = key.private.public_key()
        self._now = now
        self._verified: dict[str, tuple[Principal, float]] = {}

    def verify(self, token: str) -> tuple[Principal, float]:
        """Return the caller that a token states, and when the token ends: seconds since 1970."""
        if not token.isascii() or len(token) > TOKEN_BYTES_MAX:
            raise TokenInvalid
        known = self._verified.get(token)
        if known is None:
            known = self._read(token)
            if len(self._verified) >= CACHE_TOKENS_MAX:
                del self._verified[next(iter(self._verified))]  # the oldest
            self._verified[token] = known
        if self._now() >= known[1]:
            self._verified.pop(token, None)
            raise TokenExpired
        return known

    def _read(self, token: str) -> tuple[Principal, float]:
        try:
            if jwt.get_unverified_header(token).get("kid") != self._key_id:
                raise TokenInvalid
            claims = jwt.decode(
                token,
                self._public,
                algorithms=[ALGORITHM],
                audience=NAME,
                issuer=NAME,
                # Times are judged here, by the clock that also judges what is remembered.
                options={
                    "require": ["exp", "nbf", "iss", "aud", "sub"],
                    "verify_exp": False,
                    "verify_nbf": False,
                    "verify_iat": False,
                },
            )
        except jwt.InvalidTokenError as error:
            raise TokenInvalid from error
        expires, not_before = claims["exp"], claims["nbf"]
        if not isinstance(expires, int | float) or not isinstance(not_before, int | float):
            raise TokenInvalid
        if not_before > self._now() + LEEWAY.total_seconds():
            raise TokenInvalid
        return _principal(claims), expires + LEEWAY.total_seconds()


def is_name(value: object) -> TypeGuard[str]:
    """Whether a value can name a tenant or a subject."""
    return isinstance(value, str) and 1 <= len(value) <= NAME_CHARACTERS_MAX and value.isprintable()


def _principal(claims: dict[str, Any]) -> Principal:
    tenant, subject, role = claims.get("tenant"), claims["sub"], claims.get("role")
    if not is_name(tenant) or not is_name(subject) or role not in CALLERS:
        raise TokenInvalid
    return Principal(tenant, subject, CallerRole(role))
