"""An engine whose token names agents, a user, or both, has their sessions alone; the matrix shows what it has not."""

import re
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import jwt
import pytest

from factories import said
from lockstitch_migrations.files import FOLDER
from lockstitch_server.auth import keys
from lockstitch_server.server_process import ServerProcess
from support.callers import Caller
from support.databases import Database
from support.rpc import Create, Rpc, field_refused, refusal

Narrowed = Callable[..., Rpc]


@pytest.fixture
async def narrowed(shared_servers: tuple[ServerProcess, ServerProcess], tenant: str) -> AsyncIterator[Narrowed]:
    """Make engines: `narrowed(acts_for="u1", agents=["a"])`."""
    server = shared_servers[0]
    key = keys.load_or_make(server.data_dir)
    async with AsyncExitStack() as open_callers:

        def engine(**claims: Any) -> Rpc:
            stated = jwt.decode(server.token(tenant=tenant), options={"verify_signature": False}) | claims
            made = Caller(server.target, jwt.encode(stated, key.private, "EdDSA", headers={"kid": key.key_id}))
            open_callers.push_async_callback(made.close)
            return Rpc(made)

        yield engine


async def _listed(caller: Rpc, **fields: Any) -> set[str]:
    return {session.session_id for session in (await caller.ListSessions(**fields)).sessions}


async def test_an_engine_of_agents_has_their_sessions(narrowed: Narrowed, create: Create) -> None:
    a, b, c = [await create(agent=agent) for agent in ("a", "b", "c")]
    one, two = narrowed(agents=["a"]), narrowed(agents=["a", "b"])
    assert await _listed(one) == await _listed(one, agent="a") == {a}
    assert await _listed(two, agent="b") == {b}
    assert await _listed(two, agent="c") == await _listed(two, agent="d") == set()
    assert await field_refused(two.ListSessions()) == "agent"
    for session_id in (a, b):
        await two.Append(session_id=session_id, messages=[said("hi")])
    for caller, session_id in ((one, b), (two, c)):
        for call in (
            caller.Append(session_id=session_id, messages=[said("hi")]),
            caller.GetContext(session_id=session_id),
        ):
            assert (await refusal(call)).reason == "SESSION_NOT_FOUND"


async def test_an_engine_of_agents_creates_for_them_alone(narrowed: Narrowed) -> None:
    caller = narrowed(agents=["a", "b"])
    assert (await caller.CreateSession(agent="b")).session.agent == "b"
    for agent in ("", "c"):
        refused = await refusal(caller.CreateSession(agent=agent))
        assert (refused.reason, refused.field) == ("ROLE_NOT_ALLOWED", "agent")
        missing = {"agent": agent}
        refused = await refusal(caller.Append(session_id="new", messages=[said("x")], create_if_missing=missing))
        assert (refused.reason, refused.field) == ("ROLE_NOT_ALLOWED", "create_if_missing.agent")


async def test_a_user_and_agents_narrow_together(narrowed: Narrowed, create: Create) -> None:
    own = await create(agent="a", user_id="u1")
    others = [await create(agent="a", user_id="u2"), await create(agent="b", user_id="u1"), await create(user_id="u1")]
    caller = narrowed(agents=["a"], acts_for="u1")
    assert await _listed(caller) == {own}
    await caller.GetSession(session_id=own)
    for session_id in others:
        assert (await refusal(caller.GetSession(session_id=session_id))).reason == "SESSION_NOT_FOUND"


async def test_a_page_token_is_bound_to_what_its_engine_reaches(
    narrowed: Narrowed, engine: Rpc, create: Create
) -> None:
    for _ in range(2):
        await create(agent="a", user_id="u1")
    asked = {"agent": "a", "page_size": 1}
    for caller, other in ((engine, narrowed(agents=["a"])), (narrowed(agents=["a"]), narrowed(agents=["a", "b"]))):
        token = (await caller.ListSessions(**asked)).next_page_token
        refused = await refusal(other.ListSessions(**asked, page_token=token))
        assert refused.reason == "PAGE_TOKEN_INVALID"


@pytest.mark.parametrize("fields", [{}, {"session_id": "mine"}])
async def test_a_narrowed_engine_repeats_what_it_created(narrowed: Narrowed, fields: dict[str, Any]) -> None:
    caller = narrowed(agents=["a"], acts_for="u1")
    first, again = [await caller.CreateSession(agent="a", request_id="r", **fields) for _ in range(2)]
    assert again.receipt.replayed
    assert first.session == again.session


async def test_an_id_that_another_agents_session_has_is_taken_and_no_more(narrowed: Narrowed, create: Create) -> None:
    session_id = await create(session_id="taken", agent="b", user_id="u1")
    caller = narrowed(agents=["a"])
    refused = await refusal(caller.CreateSession(session_id=session_id, agent="a"))
    assert (refused.reason, refused.metadata) == ("SESSION_EXISTS", {})


@pytest.mark.parametrize(
    ("reach", "user", "agent", "reaches"),
    [
        (None, "u", "a", True),
        ("u", "u", "a", True),
        ("u", "v", "a", False),
        ("u", None, "a", False),
        ("u", "", "a", False),
        ("\x1f\x1fa", "v", "a", True),
        ("\x1f\x1fa", None, "a", True),
        ("\x1f\x1fa\x1fb", "v", "b", True),
        ("\x1f\x1fa", "v", "ab", False),
        ("\x1f\x1fa", "v", "", False),
        ("\x1f\x1fa", "v", None, False),
        ("\x1f\x1f", "v", "a", False),
        ("\x1fu\x1fa", "u", "a", True),
        ("\x1fu\x1fa", "v", "a", False),
        ("\x1fu\x1fa", "u", "b", False),
        ("\x1fa\x1fb", "u", "a", False),
        ("", "u", "a", False),
        ("\x1f", "u", "a", False),
    ],
)
async def test_what_is_reached_is_decided_in_one_place(
    shared_database: Database, reach: str | None, user: str | None, *, agent: str | None, reaches: bool
) -> None:
    (row,) = await shared_database.as_superuser("select lockstitch.reaches_v1($1, $2, $3)", reach, user, agent)
    assert row[0] is reaches


def test_no_statement_decides_it_by_itself() -> None:
    folder = FOLDER / "functions"
    decides = re.compile(r"\bp_owner is null|(?:=|<>|distinct from) p_owner\b|\bp_owner (?:=|<>)")
    written = {path.name: re.sub(r"--.*", "", path.read_text(encoding="utf-8")) for path in folder.glob("*.sql")}
    found = {name: len(decides.findall(sql)) for name, sql in written.items()}
    assert {name: number for name, number in found.items() if number} == {"visible_session_v1.sql": 2}
