"""CONTRACT 17: each limit is a setting, which can be made narrower than it is."""

import asyncio
from datetime import timedelta
from typing import Any

import grpc
import pytest

from factories import said
from lockstitch.v1.session_service_pb2 import AppendRequest, CreateSessionRequest
from lockstitch_server.server_process import ServerProcess
from support.databases import Database
from support.rpc import As, Rpc, field_refused
from support.stage import StartServer

CALLS = 300
LARGE_CALLS = 12
MIB = 1024 * 1024


@pytest.fixture(scope="module")
def narrow(shared_database: Database, start_server: StartServer) -> ServerProcess:
    """A server that grants short leases, has no room to wait in, and says nothing of its health."""
    return start_server(
        shared_database,
        LOCKSTITCH_LEASE_MAX="10",
        LOCKSTITCH_HEALTH="false",
        LOCKSTITCH_POOL_CONNECTIONS_MAX="2",
        LOCKSTITCH_POOL_QUEUE_MAX="1",
        LOCKSTITCH_IN_FLIGHT_BYTES_MAX=str(8 * MIB),
    )


@pytest.fixture
async def caller(call_as: As, narrow: ServerProcess) -> Rpc:
    return call_as("engine-1", "engine", to=narrow)


async def test_a_lease_is_no_longer_than_the_longest(caller: Rpc) -> None:
    session_id = (await caller.CreateSession(user_id="u1")).session.session_id
    assert await field_refused(caller.StartRun(session_id=session_id, lease={"seconds": 11})) == "lease"
    run = (await caller.StartRun(session_id=session_id)).run
    assert run.lease_expire_time.ToDatetime() - run.start_time.ToDatetime() == timedelta(seconds=10)


async def test_more_calls_than_may_wait_are_overloaded_at_once(caller: Rpc) -> None:
    sent = [CreateSessionRequest(request_id=f"burst-{number}", user_id="u1") for number in range(CALLS)]
    answers = await asyncio.gather(
        *(caller.caller.sessions.CreateSession(request) for request in sent), return_exceptions=True
    )
    refused = [answer for answer in answers if isinstance(answer, grpc.aio.AioRpcError)]
    assert {error.code() for error in refused} == {grpc.StatusCode.UNAVAILABLE}
    assert any("1 calls wait" in (error.details() or "") for error in refused)


async def test_requests_that_are_answered_at_a_time_hold_no_more_bytes_than_they_may(caller: Rpc) -> None:
    session_id = (await caller.CreateSession(user_id="u1")).session.session_id
    sent = [
        AppendRequest(request_id=f"large-{number}", session_id=session_id, messages=[said("x" * 2 * MIB)])
        for number in range(LARGE_CALLS)
    ]
    answers = await asyncio.gather(
        *(caller.caller.sessions.Append(request) for request in sent), return_exceptions=True
    )
    refused = [answer for answer in answers if isinstance(answer, grpc.aio.AioRpcError)]
    assert {error.code() for error in refused} <= {grpc.StatusCode.UNAVAILABLE}
    # All are made in the end, by those who come again.
    for request in sent:
        await caller.send(request)
    assert (await caller.GetSession(session_id=session_id)).session.message_count == LARGE_CALLS


async def test_a_server_that_shall_not_says_nothing_of_its_health(narrow: ServerProcess) -> None:
    async with grpc.aio.insecure_channel(narrow.target) as channel:
        check: Any = channel.unary_unary("/grpc.health.v1.Health/Check")
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await check(b"")
    assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED
