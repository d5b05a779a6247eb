"""CONTRACT 16: a burst of calls is answered or told to come again, however large it is."""

import asyncio
from collections import Counter

import grpc
import pytest

from lockstitch.v1.admin_service_pb2 import GetServerInfoRequest
from lockstitch_server.server_process import ServerProcess
from support.databases import Database
from support.rpc import As, Rpc
from support.stage import StartServer

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
