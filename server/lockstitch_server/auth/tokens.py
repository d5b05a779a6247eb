"""Tokens: a signed statement of tenant, subject and role, and who is believed."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import jwt

from lockstitch_server.auth.key_sets import KeySet, OwnKeys, VerifyingKey
from lockstitch_server.auth.keys import SigningKey
from lockstitch_server.auth.principals import CALLERS, NAME_CHARACTERS_MAX, is_name, principal_of
from lockstitch_server.errors import TokenExpired, TokenInvalid
from lockstitch_server.model import CallerRole, Principal

NAME = "lockstitch"
"""Issuer and audience: our own server signs for itself."""

ALGORITHM = "EdDSA"
LEEWAY = timedelta(seconds=60)
"""How far two machines' clocks may be apart."""

TOKEN_BYTES_MAX = 8 * 1024
CACHE_TOKENS_MAX = 10_000
_TIME_MAX = 253_402_300_799
"""The last second of the year 9999."""


@dataclass(frozen=True, slots=True)
class ClaimNames:
    """Under which names a token states what we need to know."""

    tenant: str = "tenant"
    subject: str = "sub"
    role: str = "role"
    agents: str = "agents"
    acts_for: str = "acts_for"


@dataclass(frozen=True, slots=True)
class Issuer:
    """Somebody whose tokens are believed."""

    name: str
    audience: str
    keys: KeySet
    claims: ClaimNames = field(default_factory=ClaimNames)
    roles: Mapping[str, CallerRole] = field(default_factory=lambda: {role.value: role for role in CALLERS})
    """What its words for roles mean."""

    @classmethod
    def ourselves(cls, key: SigningKey) -> "Issuer":
        """The data folder's own key, as `lockstitch-server token` signs with it."""
        return cls(NAME, NAME, OwnKeys(key))


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


@dataclass(frozen=True, slots=True)
class _Verified:
    principal: Principal
    expires: float
    issuer: Issuer
    key_id: str | None
    key: VerifyingKey


class TokenVerifier:
    """Says who calls.

    What was verified once is remembered until it expires or its key is gone, since a signature costs 100 µs.
    """

    def __init__(self, issuers: Sequence[Issuer], now: Callable[[], float] = time.time) -> None:
        """Tokens of these issuers are believed, each by its own keys and audience."""
        self._issuers = {issuer.name: issuer for issuer in issuers}
        self._now = now
        self._verified: dict[str, _Verified] = {}

    def known(self, token: str) -> tuple[Principal, float] | None:
        """The caller of a token that was verified before, and when the token ends; raises TokenExpired."""
        known = self._verified.get(token)
        if known is None:
            return None
        if known.issuer.keys.find(known.key_id) is not known.key:
            # Its key was replaced or withdrawn since.
            del self._verified[token]
            return None
        if self._now() >= known.expires:
            del self._verified[token]
            raise TokenExpired
        return known.principal, known.expires

    async def verify(self, token: str) -> tuple[Principal, float]:
        """Return the caller that a token states, and when the token ends: seconds since 1970."""
        if not token.isascii() or len(token) > TOKEN_BYTES_MAX:
            raise TokenInvalid
        known = self.known(token)
        if known is not None:
            return known
        verified = await self._read(token)
        if self._now() >= verified.expires:
            raise TokenExpired
        if len(self._verified) >= CACHE_TOKENS_MAX:
            del self._verified[next(iter(self._verified))]  # the oldest
        self._verified[token] = verified
        return verified.principal, verified.expires

    async def _read(self, token: str) -> _Verified:
        try:
            issuer, key_id = self._issuer_of(token)
            key = issuer.keys.find(key_id)
            if key is None:
                await issuer.keys.refresh()
                key = issuer.keys.find(key_id)
            if key is None:
                raise TokenInvalid
            claims = jwt.decode(
                token,
                key.public,
                algorithms=[key.algorithm],
                audience=issuer.audience,
                issuer=issuer.name,
                # Times are judged here, by the clock that also judges what is remembered.
                options={
                    "require": ["exp", "nbf", "iss", "aud", issuer.claims.subject],
                    "verify_exp": False,
                    "verify_nbf": False,
                    "verify_iat": False,
                },
            )
        except jwt.InvalidTokenError as error:
            raise TokenInvalid from error
        expires, not_before = claims["exp"], claims["nbf"]
        if not _is_time(expires) or not _is_time(not_before):
            raise TokenInvalid
        if not_before > self._now() + LEEWAY.total_seconds():
            raise TokenInvalid
        principal = _principal(claims, issuer)
        return _Verified(principal, expires + LEEWAY.total_seconds(), issuer, key_id, key)

    def _issuer_of(self, token: str) -> tuple[Issuer, str | None]:
        """Whose a token says that it is, and which key it says it was signed with; nothing of this is believed yet."""
        header = jwt.get_unverified_header(token)
        stated = jwt.decode(token, options={"verify_signature": False})
        name = stated.get("iss")
        issuer = self._issuers.get(name) if isinstance(name, str) else None
        key_id = header.get("kid")
        if issuer is None or not isinstance(key_id, str | None):
            raise TokenInvalid
        return issuer, key_id


def _is_time(value: object) -> bool:
    """Whether a value is a time that there is: no NaN, which is never over, and nothing endless."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _TIME_MAX


def _principal(claims: Mapping[str, Any], issuer: Issuer) -> Principal:
    names = issuer.claims
    role = claims.get(names.role)
    principal = principal_of(
        tenant=claims.get(names.tenant),
        subject=claims.get(names.subject),
        role=issuer.roles.get(role) if isinstance(role, str) else None,
        agents=claims.get(names.agents),
        acts_for=claims.get(names.acts_for),
    )
    if principal is None:
        raise TokenInvalid
    return principal
