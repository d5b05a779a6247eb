"""Tokens of several issuers: what makes them good, and everything that does not."""

import math
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization

from lockstitch_server.auth.key_sets import VerifyingKey, parse
from lockstitch_server.auth.tokens import ClaimNames, Issuer, TokenVerifier
from lockstitch_server.errors import TokenExpired, TokenInvalid
from lockstitch_server.model import CallerRole, Principal
from support.issuing import AUDIENCE, ISSUER, ProviderKey, encoded, key_set

NOW = 1_000_000.0
KEYS = {algorithm: ProviderKey(algorithm, algorithm) for algorithm in ("EdDSA", "ES256", "RS256")}


class Held:
    """A key set that a test changes."""

    def __init__(self, *keys: ProviderKey) -> None:
        self.asked = 0
        self.newer: tuple[ProviderKey, ...] | None = None
        self.hold(*keys)

    def hold(self, *keys: ProviderKey) -> None:
        self._keys = parse(key_set(*keys)) if keys else {}

    def find(self, key_id: str | None) -> VerifyingKey | None:
        if key_id is None:
            return next(iter(self._keys.values())) if len(self._keys) == 1 else None
        return self._keys.get(key_id)

    async def refresh(self) -> None:
        self.asked += 1
        if self.newer is not None:
            self.hold(*self.newer)


class Clock:
    now = NOW

    def __call__(self) -> float:
        return self.now


def verifier(*issuers: Issuer, clock: Clock | None = None) -> TokenVerifier:
    return TokenVerifier(issuers or [Issuer(ISSUER, AUDIENCE, Held(*KEYS.values()))], clock or Clock())


async def refused(token: str, by: TokenVerifier | None = None) -> None:
    for _ in range(2):
        with pytest.raises(TokenInvalid):
            await (by or verifier()).verify(token)


@pytest.mark.parametrize("algorithm", KEYS)
async def test_a_good_token_states_its_caller(algorithm: str) -> None:
    stated, expires = await verifier().verify(KEYS[algorithm].sign(now=NOW))
    assert stated == Principal("t", "s", CallerRole.ENGINE)
    assert expires == NOW + 3600 + 60


@pytest.mark.parametrize("algorithm", ["ES384", "PS256", "RS512"])
async def test_other_algorithms_are_refused_whatever_key_they_name(algorithm: str) -> None:
    odd = ProviderKey("odd", algorithm)
    for key_id in ("odd", "RS256", "ES256"):
        await refused(odd.sign(now=NOW, key_id=key_id))
    if algorithm != "ES384":
        # The key itself is fine: what was made with it is not what the key is for.
        await refused(odd.sign(now=NOW), verifier(Issuer(ISSUER, AUDIENCE, Held(odd))))


async def test_a_public_key_is_no_shared_secret() -> None:
    key = KEYS["RS256"]
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    for encoding in (serialization.Encoding.PEM, serialization.Encoding.DER):
        secret = key.private.public_key().public_bytes(encoding, form)
        header, claims, _ = key.sign(now=NOW).split(".")
        del header
        forged = encoded({"alg": "HS256", "typ": "JWT", "kid": "RS256"}) + "." + claims
        signature = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256).sign(forged.encode(), secret)
        await refused(f"{forged}.{encoded(signature)}")


@pytest.mark.parametrize("named", ["none", "None", "nOnE", "", "HS256", "EdDSA", "ES256", 7, None])
@pytest.mark.parametrize("signature", [b"", b"\x00" * 64])
async def test_nothing_unsigned_is_believed(named: Any, signature: bytes) -> None:
    claims = jwt.decode(KEYS["RS256"].sign(now=NOW), options={"verify_signature": False})
    await refused(encoded({"alg": named, "kid": "RS256"}, claims, signature))


async def test_a_key_that_a_token_brings_along_is_not_used() -> None:
    key = ProviderKey("RS256", "RS256")
    header = {"jwk": key.jwk, "jku": "https://evil.example/keys", "kid": "RS256"}
    claims = jwt.decode(key.sign(now=NOW), options={"verify_signature": False})
    await refused(jwt.encode(claims, key.private, "RS256", headers=header))


@pytest.mark.parametrize("claim", ["iss", "aud", "exp", "nbf", "sub", "tenant", "role"])
async def test_no_claim_may_be_missing(claim: str) -> None:
    await refused(KEYS["EdDSA"].sign(now=NOW, **{claim: None}))


@pytest.mark.parametrize(
    "change",
    [
        {"iss": "https://idp.example/"},
        {"iss": "lockstitch"},
        {"aud": "another"},
        {"aud": ["another", "third"]},
        {"aud": 7},
        {"aud": []},
        {"exp": "soon"},
        {"exp": math.nan},
        {"exp": math.inf},
        {"exp": True},
        {"exp": 10**400},
        {"exp": -1},
        {"nbf": math.nan},
        {"nbf": NOW + 61},
        {"nbf": "now"},
        {"sub": 7},
        {"sub": ""},
        {"tenant": ["t"]},
        {"tenant": "t\n"},
        {"role": "system"},
        {"role": ["engine"]},
        {"role": "Engine"},
    ],
)
async def test_a_wrong_claim_is_refused(change: dict[str, Any]) -> None:
    await refused(KEYS["EdDSA"].sign(now=NOW, **change))


async def test_an_audience_among_others_is_enough() -> None:
    await verifier().verify(KEYS["EdDSA"].sign(now=NOW, aud=["another", AUDIENCE]))


async def test_clocks_may_be_a_minute_apart_and_no_more() -> None:
    clock = Clock()
    by = verifier(clock=clock)
    late, early = KEYS["EdDSA"].sign(now=NOW, exp=NOW - 59), KEYS["EdDSA"].sign(now=NOW, nbf=NOW + 60)
    await by.verify(late)
    await by.verify(early)
    clock.now += 1
    for _ in range(2):
        with pytest.raises(TokenExpired):
            await by.verify(late)
    with pytest.raises(TokenExpired):
        await by.verify(KEYS["EdDSA"].sign(now=NOW, exp=NOW - 59))


async def test_each_issuer_is_believed_by_its_own_keys_audience_and_names() -> None:
    ours, theirs = ProviderKey("k1"), ProviderKey("k1")
    names = ClaimNames(tenant="org", subject="email", role="https://x/role", agents="apps", acts_for="for")
    by = verifier(
        Issuer("a", "for-a", Held(ours)),
        Issuer("b", "for-b", Held(theirs), names, {"bot": CallerRole.ENGINE, "person": CallerRole.USER}),
    )
    assert (await by.verify(ours.sign(now=NOW, iss="a", aud="for-a")))[0].role is CallerRole.ENGINE
    said = {"iss": "b", "aud": "for-b", "org": "o", "email": "e@x", "https://x/role": "bot", "for": "u1"}
    stated, _ = await by.verify(theirs.sign(now=NOW, **said))
    assert stated == Principal("o", "e@x", CallerRole.ENGINE, acts_for="u1")
    await refused(ours.sign(now=NOW, **said), by)
    await refused(theirs.sign(now=NOW, iss="a", aud="for-a"), by)
    await refused(theirs.sign(now=NOW, **said | {"aud": "for-a"}), by)
    await refused(theirs.sign(now=NOW, **said | {"https://x/role": "engine"}), by)
    await refused(theirs.sign(now=NOW, iss="b", aud="for-b"), by)


async def test_a_token_without_a_key_id_goes_to_the_only_key() -> None:
    key = KEYS["EdDSA"]
    await verifier(Issuer(ISSUER, AUDIENCE, Held(key))).verify(key.sign(now=NOW, key_id=None))
    await refused(key.sign(now=NOW, key_id=None))


async def test_an_unknown_key_is_looked_for_and_a_known_one_is_not() -> None:
    old, new = ProviderKey("old"), ProviderKey("new")
    held = Held(old)
    by = verifier(Issuer(ISSUER, AUDIENCE, held))
    await by.verify(old.sign(now=NOW))
    assert held.asked == 0
    held.newer = (old, new)
    await by.verify(new.sign(now=NOW))
    assert held.asked == 1


async def test_what_was_verified_by_a_key_ends_with_it() -> None:
    old, new = ProviderKey("old"), ProviderKey("new")
    held = Held(old, new)
    by = verifier(Issuer(ISSUER, AUDIENCE, held))
    token = old.sign(now=NOW)
    await by.verify(token)
    assert by.known(token)
    held.hold(new)
    assert by.known(token) is None
    await refused(token, by)


async def test_another_key_under_the_same_id_ends_it_too() -> None:
    held = Held(ProviderKey("k"))
    first = ProviderKey("k")
    held.hold(first)
    by = verifier(Issuer(ISSUER, AUDIENCE, held))
    token = first.sign(now=NOW)
    await by.verify(token)
    held.hold(ProviderKey("k"))
    await refused(token, by)


@pytest.mark.parametrize(
    "change",
    [
        {"acts_for": ""},
        {"acts_for": 7},
        {"acts_for": ["u1"]},
        {"acts_for": "u1\n"},
        {"acts_for": "u1", "role": "user"},
        {"acts_for": "u1", "role": "admin"},
        {"agents": "a"},
        {"agents": [7]},
        {"agents": {"a": 1}},
        {"agents": ["a"] * 101},
        {"agents": ["a"], "role": "admin"},
    ],
)
async def test_a_narrowing_that_cannot_be_read_states_nobody(change: dict[str, Any]) -> None:
    await refused(KEYS["EdDSA"].sign(now=NOW, **change))
