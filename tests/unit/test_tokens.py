import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from lockstitch_server.auth import keys, tokens
from lockstitch_server.auth.keys import SigningKey
from lockstitch_server.auth.tokens import Issuer, TokenSigner, TokenVerifier
from lockstitch_server.errors import TokenExpired, TokenInvalid
from lockstitch_server.model import CallerRole, Principal
from lockstitch_server.startup import StartupError

HOUR = timedelta(hours=1)
START = 1_000_000.0


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def key() -> SigningKey:
    return SigningKey("key-1", Ed25519PrivateKey.generate())


@pytest.fixture
def verifier(key: SigningKey, clock: Clock) -> TokenVerifier:
    return TokenVerifier([Issuer.ourselves(key)], clock)


@pytest.fixture
def sign(key: SigningKey, clock: Clock) -> Callable[..., str]:
    def signed(**change: Any) -> str:
        asked: dict[str, Any] = {"tenant": "t", "subject": "s", "role": CallerRole.USER, "ttl": HOUR} | change
        return TokenSigner(key, clock).sign(**asked)

    return signed


def forged(key: SigningKey, *, kid: str = "key-1", algorithm: str = "EdDSA", **change: Any) -> str:
    claims = {"iss": "lockstitch", "aud": "lockstitch", "nbf": START, "exp": START + 60, "sub": "s", "tenant": "t"}
    claims |= {"role": "user"} | change
    left = {name: value for name, value in claims.items() if value is not None}
    return jwt.encode(left, key.private, algorithm, headers={"kid": kid})


async def test_a_token_says_tenant_subject_and_role(verifier: TokenVerifier, sign: Callable[..., str]) -> None:
    for role in (CallerRole.USER, CallerRole.ENGINE, CallerRole.ADMIN):
        token = sign(tenant="Ünï", subject="a b", role=role)
        assert (await verifier.verify(token))[0] == Principal("Ünï", "a b", role)
        assert (await verifier.verify(token))[0] == Principal("Ünï", "a b", role)


async def test_a_token_expires_after_the_leeway_also_when_remembered(
    verifier: TokenVerifier, sign: Callable[..., str], clock: Clock
) -> None:
    token = sign()
    clock.now = START + 3600 + 59
    await verifier.verify(token)
    clock.now = START + 3600 + 60
    for _ in range(2):
        with pytest.raises(TokenExpired):
            await verifier.verify(token)


async def test_a_token_that_is_not_valid_yet_is_refused(verifier: TokenVerifier, key: SigningKey) -> None:
    await verifier.verify(forged(key, nbf=START + 60))
    with pytest.raises(TokenInvalid):
        await verifier.verify(forged(key, nbf=START + 61))


@pytest.mark.parametrize(
    "change",
    [
        {"iss": "somebody"},
        {"aud": "somebody"},
        {"role": "system"},
        {"role": "root"},
        {"role": None},
        {"tenant": None},
        {"tenant": ""},
        {"tenant": 7},
        {"tenant": "t" * 129},
        {"tenant": "a\nb"},
        {"sub": None},
        {"sub": "\u0000"},
        {"exp": None},
        {"nbf": None},
        {"exp": "tomorrow"},
        {"kid": "another"},
    ],
)
async def test_a_token_of_ours_with_wrong_claims_is_refused(
    verifier: TokenVerifier, key: SigningKey, change: dict[str, Any]
) -> None:
    with pytest.raises(TokenInvalid):
        await verifier.verify(forged(key, **change))


async def test_a_token_signed_by_another_key_is_refused(verifier: TokenVerifier) -> None:
    with pytest.raises(TokenInvalid):
        await verifier.verify(forged(SigningKey("key-1", Ed25519PrivateKey.generate())))


async def test_an_unsigned_or_otherwise_signed_token_is_refused(verifier: TokenVerifier) -> None:
    claims = {"iss": "lockstitch", "aud": "lockstitch", "nbf": START, "exp": START + 60, "sub": "s", "tenant": "t"}
    claims |= {"role": "admin"}
    for secret, algorithm in (("", "none"), ("k" * 64, "HS256")):
        token = jwt.encode(claims, secret, algorithm, headers={"kid": "key-1"})
        with pytest.raises(TokenInvalid):
            await verifier.verify(token)


@pytest.mark.parametrize("token", ["", " ", "abc", "a.b.c", "\udcff", "x" * 99_999])
async def test_what_is_no_token_is_refused(verifier: TokenVerifier, token: str) -> None:
    with pytest.raises(TokenInvalid):
        await verifier.verify(token)


async def test_a_token_that_was_changed_is_refused(verifier: TokenVerifier, sign: Callable[..., str]) -> None:
    token = sign()
    await verifier.verify(token)
    head, body, signature = token.split(".")
    for changed in (f"{head}.{body[:-2]}xx.{signature}", f"{head}.{body}.{signature[:-4]}AAAA", f"{head}.{body}."):
        with pytest.raises(TokenInvalid):
            await verifier.verify(changed)


async def test_the_memory_of_tokens_is_bounded(
    verifier: TokenVerifier, sign: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "CACHE_TOKENS_MAX", 3)
    for number in range(10):
        await verifier.verify(sign(subject=f"s{number}"))
    assert len(verifier._verified) == 3


@pytest.mark.parametrize("change", [{"tenant": ""}, {"subject": "a\tb"}, {"role": CallerRole.SYSTEM}])
def test_nothing_is_signed_that_no_verifier_takes(sign: Callable[..., str], change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="the"):
        sign(**change)


def test_the_key_is_made_once_for_us_alone(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: keys.load_or_make(tmp_path / "data"), range(8)))
    assert len({key.key_id for key in made}) == 1
    file = tmp_path / "data/keys" / keys.FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize("content", [b"", b"nonsense"])
def test_a_broken_key_file_is_named(tmp_path: Path, content: bytes) -> None:
    keys.load_or_make(tmp_path)
    (tmp_path / "keys" / keys.FILE).write_bytes(content)
    with pytest.raises(StartupError, match=keys.FILE):
        keys.load_or_make(tmp_path)
