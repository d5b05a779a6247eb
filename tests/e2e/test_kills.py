"""What was acknowledged survives every killing."""

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import grpc
import pytest
from grpc import aio

from lockstitch.v1 import message_pb2, session_service_pb2
from lockstitch_server.server_process import ServerProcess
from support.callers import Caller
from support.processes import is_alive, postmaster_pid, until_gone
from support.shared_port import workers_of
from support.waiting import until

Serve = Callable[..., ServerProcess]
Call = Callable[[ServerProcess], Caller]


async def create(caller: Caller) -> str:
    request = session_service_pb2.CreateSessionRequest(request_id=uuid4().hex, user_id="user-1", title="kept")
    return (await caller.sessions.CreateSession(request)).session.session_id


async def title_of(caller: Caller, session_id: str) -> str:
    return (
        await caller.sessions.GetSession(session_service_pb2.GetSessionRequest(session_id=session_id))
    ).session.title


async def title_when_it_answers_again(caller: Caller, session_id: str) -> str:
    async with asyncio.timeout(20):
        while True:
            try:
                return await title_of(caller, session_id)
            except aio.AioRpcError as error:
                if error.code() != grpc.StatusCode.UNAVAILABLE:
                    raise


async def test_a_stopped_server_leaves_no_process_and_all_data(serve: Serve, call: Call, data_dir: Path) -> None:
    first = serve()
    session_id = await create(call(first))
    postmaster = postmaster_pid(data_dir)
    assert first.stop() == 0
    assert not is_alive(postmaster)
    assert await title_of(call(serve()), session_id) == "kept"


async def test_a_killed_server_takes_postgres_along_and_keeps_all_data(
    serve: Serve, call: Call, data_dir: Path
) -> None:
    first = serve()
    session_id = await create(call(first))
    postmaster = postmaster_pid(data_dir)
    first.kill()
    until_gone(postmaster)
    assert await title_of(call(serve()), session_id) == "kept"


async def test_a_server_whose_postgres_was_killed_recovers(serve: Serve, call: Call, data_dir: Path) -> None:
    server = serve()
    caller = call(server)
    session_id = await create(caller)
    postmaster = None
    for _ in range(2):
        postmaster = postmaster_pid(data_dir, after=postmaster)
        os.kill(postmaster, signal.SIGKILL)
        assert await title_when_it_answers_again(caller, session_id) == "kept"
    postmaster_pid(data_dir, after=postmaster)
    assert server.process.poll() is None


async def test_server_and_postgres_killed_at_once_keep_all_data(serve: Serve, call: Call, data_dir: Path) -> None:
    first = serve()
    session_id = await create(call(first))
    os.kill(postmaster_pid(data_dir), signal.SIGKILL)
    first.kill()
    assert await title_of(call(serve()), session_id) == "kept"


async def test_a_retry_after_a_kill_is_not_a_second_write(serve: Serve, call: Call) -> None:
    first = serve()
    session_id = await create(call(first))
    message = message_pb2.Message(role=message_pb2.ROLE_USER, parts=[message_pb2.Part(text="hello")])
    request = session_service_pb2.AppendRequest(session_id=session_id, request_id="once", messages=[message])
    receipt = (await call(first).sessions.Append(request)).receipt
    first.kill()
    again = (await call(serve()).sessions.Append(request)).receipt
    assert again.replayed
    again.replayed = False
    assert again == receipt


async def test_a_killed_worker_is_replaced(serve: Serve, call: Call) -> None:
    server = serve("--workers", "2")
    session_id = await create(call(server))
    workers = workers_of(server)
    assert len(workers) == 2
    os.kill(workers[0], signal.SIGKILL)
    await until(lambda: len(set(workers_of(server)) - {workers[0]}) == 2, "a replaced worker")
    assert await title_of(call(server), session_id) == "kept"


@pytest.mark.parametrize("end", [ServerProcess.stop, ServerProcess.kill])
async def test_no_worker_outlives_its_server(serve: Serve, end: Callable[[ServerProcess], int]) -> None:
    server = serve("--workers", "2")
    workers = workers_of(server)
    end(server)
    for worker in workers:
        until_gone(worker)
