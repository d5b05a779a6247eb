"""CONTRACT 17: quotas by counts that are gathered beside the calls; calls that are turned away before any work."""

import asyncio

import grpc
import grpc.aio
import pytest

from factories import fresh, said
from lockstitch.v1.session_service_pb2 import CreateSessionRequest
from lockstitch_server.server_process import ServerProcess
from support.databases import Database
from support.rpc import As, Rpc, outcome, refusal, taken_apart
from support.stage import StartServer
from support.waiting import until_true

TENANT_MAX, USER_MAX = 100, 3
AT_A_TIME = 4


@pytest.fixture(scope="module")
def bounded(shared_database: Database, start_server: StartServer) -> ServerProcess:
    """A server with small quotas."""
    return start_server(
        shared_database,
        LOCKSTITCH_TENANT_SESSIONS_MAX=str(TENANT_MAX),
        LOCKSTITCH_USER_SESSIONS_MAX=str(USER_MAX),
        LOCKSTITCH_QUOTA_INTERVAL="0.2",
    )


@pytest.fixture
async def caller(call_as: As, bounded: ServerProcess) -> Rpc:
    return call_as("engine-1", "engine", to=bounded)


async def refused(caller: Rpc, user: str) -> bool:
    """Whether a session more of a user's is one too many."""
    answer = await outcome(caller.CreateSession(user_id=user))
    return getattr(answer, "reason", "") == "QUOTA_EXCEEDED"


async def filled(engine: Rpc, user: str, count: int) -> list[str]:
    """Give a user sessions, by a server that knows of no quota."""
    made = [await engine.CreateSession(user_id=user) for _ in range(count)]
    return [answer.session.session_id for answer in made]


async def test_a_user_has_no_more_sessions_than_it_may(caller: Rpc, engine: Rpc) -> None:
    (session_id, *_) = await filled(engine, "u1", USER_MAX)
    await until_true(lambda: refused(caller, "u1"), "the user's sessions being counted")
    answer = await refusal(caller.CreateSession(user_id="u1"))
    assert answer.what == (grpc.StatusCode.RESOURCE_EXHAUSTED, "QUOTA_EXCEEDED")

    before = (await engine.ListSessions(user_id="u1", page_size=1000)).sessions
    for call in (
        caller.Append(session_id=fresh("new"), create_if_missing={"user_id": "u1"}, messages=[said("hi")]),
        caller.PutCheckpoint(
            session_id=fresh("new"), create_if_missing={"user_id": "u1"}, checkpoint={"checkpoint_id": "1"}
        ),
    ):
        assert (await refusal(call)).reason == "QUOTA_EXCEEDED"
    assert len((await engine.ListSessions(user_id="u1", page_size=1000)).sessions) == len(before)

    # What is there goes on, and so do others.
    await caller.Append(session_id=session_id, create_if_missing={"user_id": "u1"}, messages=[said("hi")])
    await caller.CreateSession(user_id="u2")


async def test_a_creation_that_was_made_is_given_again_whatever_the_quota_says(caller: Rpc, engine: Rpc) -> None:
    request_id = fresh("request")
    made = await caller.CreateSession(user_id="u1", request_id=request_id)
    await filled(engine, "u1", USER_MAX)
    await until_true(lambda: refused(caller, "u1"), "the user's sessions being counted")
    again = await caller.CreateSession(user_id="u1", request_id=request_id)
    assert again.receipt.replayed
    assert again.session == made.session


async def test_a_tenant_has_no_more_sessions_than_it_may(caller: Rpc, engine: Rpc) -> None:
    (session_id, *_) = await filled(engine, "", TENANT_MAX)
    await until_true(lambda: refused(caller, ""), "the tenant's sessions being counted")
    assert (await refusal(caller.CreateSession(user_id=fresh("user")))).reason == "QUOTA_EXCEEDED"
    assert (await refusal(caller.ForkSession(session_id=session_id))).reason == "QUOTA_EXCEEDED"


async def test_calls_beyond_those_that_are_answered_at_a_time_are_turned_away_with_the_time_to_come_again(
    shared_database: Database, start_server: StartServer, call_as: As
) -> None:
    narrow = start_server(shared_database, LOCKSTITCH_CALLS_IN_FLIGHT_MAX=str(AT_A_TIME))
    caller = call_as("engine-1", "engine", to=narrow)
    sent = [CreateSessionRequest(request_id=fresh("request"), user_id="u1") for _ in range(200)]
    answers = await asyncio.gather(
        *(caller.caller.sessions.CreateSession(request) for request in sent), return_exceptions=True
    )
    turned_away = [answer for answer in answers if isinstance(answer, grpc.aio.AioRpcError)]
    assert {taken_apart(error).what for error in turned_away} == {(grpc.StatusCode.UNAVAILABLE, "OVERLOADED")}
    assert len(turned_away) < len(answers)
    for error in turned_away:
        assert int(dict(error.trailing_metadata() or ())["grpc-retry-pushback-ms"]) > 0
    # Nothing was done for them, and nobody is left inside.
    made = (await caller.ListSessions(user_id="u1", page_size=1000)).sessions
    assert len(made) == len(answers) - len(turned_away)
