"""CONTRACT 16: a burst of calls is answered or told to come again; a crowd that stays is turned away."""

import asyncio
from collections import Counter

import grpc
import pytest

from factories import fresh, said
from lockstitch.v1.admin_service_pb2 import GetServerInfoRequest
from lockstitch.v1.session_service_pb2 import AppendRequest
from lockstitch_server.server_process import ServerProcess
from support.databases import Database
from support.rpc import As, Rpc, taken_apart
from support.stage import StartServer

CROWD = 32
CALLS = 3000
"""Well above what gRPC's core holds before it ends some at random, left to itself (1,000)."""


@pytest.fixture
async def caller(call_as: As, shared_database: Database, start_server: StartServer) -> Rpc:
    server: ServerProcess = start_server(shared_database)
    return call_as("engine-1", "engine", to=server)


async def test_no_call_of_a_burst_is_dropped(caller: Rpc) -> None:
    answers = await asyncio.gather(
        *(caller.caller.admin.GetServerInfo(GetServerInfoRequest(), timeout=120) for _ in range(CALLS)),
        return_exceptions=True,
    )
    refused = [answer for answer in answers if isinstance(answer, BaseException)]
    codes = Counter(error.code() if isinstance(error, grpc.aio.AioRpcError) else error for error in refused)
    assert set(codes) <= {grpc.StatusCode.UNAVAILABLE}
    assert len(refused) < CALLS


async def test_a_crowd_that_stays_is_turned_away_with_the_time_to_come_again_until_it_has_gone(
    call_as: As, shared_database: Database, start_server: StartServer
) -> None:
    server: ServerProcess = start_server(
        shared_database, LOCKSTITCH_CALLS_UNDER_LOAD="2", LOCKSTITCH_OVERLOAD_AFTER="0.1"
    )
    rpc = call_as("engine-1", "engine", to=server)
    session_id = (await rpc.CreateSession()).session.session_id
    refused: list[grpc.aio.AioRpcError] = []

    async def append_again_and_again() -> int:
        appended = 0
        while not refused:
            request = AppendRequest(session_id=session_id, request_id=fresh("request"), messages=[said("hello")])
            try:
                await rpc.caller.sessions.Append(request)
                appended += 1
            except grpc.aio.AioRpcError as error:
                refused.append(error)
        return appended

    appended = sum(await asyncio.gather(*(append_again_and_again() for _ in range(CROWD))))
    assert {taken_apart(error).what for error in refused} == {(grpc.StatusCode.UNAVAILABLE, "OVERLOADED")}
    for error in refused:
        assert int(dict(error.trailing_metadata() or ())["grpc-retry-pushback-ms"]) > 0

    # Nothing of what was turned away is stored, and whoever comes later is let in.
    page = await rpc.ListMessages(session_id=session_id, page_size=1000)
    assert len(page.messages) == appended
