"""CONTRACT 5 and 6: every RPC by whoever may not, of whatever it names. A new RPC is in it by itself."""

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import grpc
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from factories import fresh
from lockstitch_server.auth import keys
from lockstitch_server.auth.keys import SigningKey
from lockstitch_server.auth.tokens import TokenSigner
from lockstitch_server.model import CallerRole
from lockstitch_server.server_process import ServerProcess
from support.databases import Database
from support.matrix import OWNER, RECIPES, RPCS, Asker, Place, prepare, recipe, request_on
from support.rpc import Refusal
from support.strangers import fingerprint, learns_nothing, suffices, token_of

Ask = Callable[..., Asker]
Bearer = Callable[[SigningKey, str], str]
HOUR = timedelta(hours=1)
DAY_SECONDS = 86_400
EVERY = pytest.mark.parametrize("rpc", RPCS)


def _signed(key: SigningKey, tenant: str, ago: float = 0) -> str:
    signer = TokenSigner(key, lambda: time.time() - ago)
    return signer.sign(tenant=tenant, subject=OWNER, role=CallerRole.ADMIN, ttl=HOUR)


def _for_another_audience(key: SigningKey, tenant: str) -> str:
    claims = jwt.decode(_signed(key, tenant), options={"verify_signature": False}) | {"aud": "another"}
    return jwt.encode(claims, key.private, "EdDSA", headers={"kid": key.key_id})


def _stating(server: ServerProcess, tenant: str, user: str, role: str, narrowed: dict[str, object]) -> str:
    key = keys.load_or_make(server.data_dir)
    stated = server.token(tenant=tenant, user=user, role=role)
    claims = jwt.decode(stated, options={"verify_signature": False}) | narrowed
    return f"Bearer {jwt.encode(claims, key.private, 'EdDSA', headers={'kid': key.key_id})}"


NOBODIES: dict[str, tuple[str, Callable[[SigningKey, str], str | None]]] = {
    "no token": ("TOKEN_MISSING", lambda *_: None),
    "another scheme": ("TOKEN_MISSING", lambda key, tenant: f"Basic {_signed(key, tenant)}"),
    "malformed": ("TOKEN_INVALID", lambda key, tenant: f"Bearer {_signed(key, tenant)[:-7]}"),
    "expired": ("TOKEN_EXPIRED", lambda key, tenant: f"Bearer {_signed(key, tenant, DAY_SECONDS)}"),
    "forged": (
        "TOKEN_INVALID",
        lambda key, tenant: f"Bearer {_signed(SigningKey(key.key_id, Ed25519PrivateKey.generate()), tenant)}",
    ),
    "another audience": ("TOKEN_INVALID", lambda key, tenant: f"Bearer {_for_another_audience(key, tenant)}"),
}


@pytest.fixture(scope="module")
def tenant() -> str:
    return fresh("tenant")


@pytest.fixture
async def engine(server: ServerProcess, asker: Ask, tenant: str) -> Asker:
    return asker(server, tenant=tenant)


@pytest.fixture(scope="module")
def places() -> dict[str, Place]:
    """What `place` made: nobody here may change it."""
    return {}


@pytest.fixture
async def place(rpc: str, engine: Asker, places: dict[str, Place]) -> Place:
    """A session of the user u1 that the RPC would succeed on, among others."""
    if rpc not in places:
        places[rpc] = await prepare(rpc, engine)
    return places[rpc]


def test_there_is_a_recipe_for_every_rpc_and_for_no_other() -> None:
    assert set(RECIPES) == set(RPCS)


@EVERY
@pytest.mark.parametrize("who", NOBODIES)
async def test_nobody_is_told_that_alone(
    rpc: str,
    who: str,
    *,
    server: ServerProcess,
    database: Database,
    asker: Ask,
    tenant: str,
    place: Place,
    engine: Asker,
) -> None:
    reason, made = NOBODIES[who]
    nobody = asker(server, authorization=made(keys.load_or_make(server.data_dir), tenant))
    token = await token_of(rpc, engine, place)
    before = await fingerprint(database)
    answers = await learns_nothing(rpc, nobody, own=place, foreign=place, token=token)
    assert {(answer.code, answer.reason) for answer in answers if isinstance(answer, Refusal)} == {
        (grpc.StatusCode.UNAUTHENTICATED, reason)
    }
    assert answers == [answers[0]] * len(answers)
    assert await fingerprint(database) == before


STRANGERS: dict[str, tuple[bool, str, str, dict[str, object]]] = {
    "another tenant's admin": (False, "a", "admin", {}),
    "another tenant's user of that name": (False, OWNER, "user", {}),
    "another user": (True, "u2", "user", {}),
    "an engine that acts for another user": (True, "u2", "engine", {"acts_for": "u2"}),
    "an engine of another agent": (True, "u2", "engine", {"agents": ["another"]}),
    "an engine of another agent, for that user": (True, OWNER, "engine", {"agents": ["another"], "acts_for": OWNER}),
}
"""Whether they are of the tenant, who they are, and what their tokens narrow them to."""


@EVERY
@pytest.mark.parametrize("who", STRANGERS)
async def test_a_stranger_learns_nothing_and_changes_nothing(
    rpc: str,
    who: str,
    *,
    server: ServerProcess,
    database: Database,
    asker: Ask,
    tenant: str,
    place: Place,
    engine: Asker,
) -> None:
    is_ours, user, role, narrowed = STRANGERS[who]
    theirs = tenant if is_ours else fresh("tenant")
    stranger = asker(server, authorization=_stating(server, theirs, user, role, narrowed))
    own = await prepare(rpc, asker(server, tenant=theirs), user, agent="another" if "agents" in narrowed else "")
    token = await token_of(rpc, engine, place)
    if recipe(rpc).names and not recipe(rpc).creates and not (rpc == "ListSessions" and user == OWNER):
        before = await fingerprint(database)
        answers = await learns_nothing(rpc, stranger, own=own, foreign=place, token=token)
        assert await fingerprint(database) == before
        if not suffices(role, rpc):
            assert {answer.reason for answer in answers if isinstance(answer, Refusal)} == {"ROLE_NOT_ALLOWED"}
        elif recipe(rpc).names != "user_id":
            refused = answers[0]
            assert isinstance(refused, Refusal)
            assert (refused.code, refused.reason) == (grpc.StatusCode.NOT_FOUND, "SESSION_NOT_FOUND")
        assert not any(b"secret" in answer for answer in answers if isinstance(answer, bytes))
    there = replace(own, session_id=fresh("new")) if recipe(rpc).creates else own
    answer = await stranger.ask(rpc, request_on(rpc, there))
    if suffices(role, rpc) and not recipe(rpc).creates:
        assert isinstance(answer, bytes), f"the recipe of {rpc} is no request that succeeds: {answer}"
    elif not suffices(role, rpc):
        assert isinstance(answer, Refusal)
        assert answer.reason == "ROLE_NOT_ALLOWED"


@EVERY
@pytest.mark.parametrize("role", ["user", "engine"])
async def test_a_lower_role_is_told_so_whatever_it_names(
    rpc: str,
    role: str,
    *,
    server: ServerProcess,
    database: Database,
    asker: Ask,
    tenant: str,
    place: Place,
    engine: Asker,
) -> None:
    if suffices(role, rpc):
        return
    lower = asker(server, tenant=tenant, user=OWNER, role=role)
    foreign = await prepare(rpc, asker(server, tenant=fresh("tenant")))
    token = await token_of(rpc, engine, place)
    before = await fingerprint(database)
    answers = [await lower.ask(rpc, request_on(rpc, place))]
    answers += await learns_nothing(rpc, lower, own=place, foreign=foreign, token=token)
    assert answers == [answers[0]] * len(answers)
    refused = answers[0]
    assert isinstance(refused, Refusal)
    assert (refused.code, refused.reason) == (grpc.StatusCode.PERMISSION_DENIED, "ROLE_NOT_ALLOWED")
    assert await fingerprint(database) == before


async def test_a_chosen_id_that_is_taken_says_so_and_nothing_else(
    server: ServerProcess, database: Database, asker: Ask, tenant: str
) -> None:
    taken = await prepare("GetSession", asker(server, tenant=tenant))
    also = await prepare("CloseSession", asker(server, tenant=tenant))
    stranger = asker(server, tenant=tenant, user="u2", role="user")
    before = await fingerprint(database)
    answers = [await stranger.ask("CreateSession", request_on("CreateSession", one)) for one in (taken, also)]
    assert answers[0] == answers[1]
    assert isinstance(answers[0], Refusal)
    assert (answers[0].reason, answers[0].metadata) == ("SESSION_EXISTS", {})
    missing = [
        await stranger.ask("Append", request_on("Append", one, create_if_missing={"user_id": "u2"}))
        for one in (taken, also)
    ]
    assert missing[0] == missing[1]
    assert isinstance(missing[0], Refusal)
    assert await fingerprint(database) == before
    other = asker(server, tenant=fresh("tenant"), user="u1", role="user")
    made = await other.call("CreateSession", session_id=taken.session_id)
    assert (made.session.version, made.session.message_count) == (1, 0)
