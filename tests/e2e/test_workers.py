"""Processes that share one port serve one store, and any of them may die."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from factories import fresh, said
from lockstitch import Client, SessionHandle, user
from lockstitch.v1 import session_service_pb2 as pb
from lockstitch.v1 import subscription_pb2
from lockstitch_server.server_process import ServerProcess
from support.callers import Caller
from support.processes import postmaster_pid, until_gone
from support.shared_port import connections_of, serving_workers, workers_of
from support.waiting import until

Serve = Callable[..., ServerProcess]
Call = Callable[[ServerProcess], Caller]
OneAtEach = Callable[[ServerProcess], Awaitable[list[Caller]]]
CONNECTIONS_MAX = 64
WRITERS = 4
SECONDS_MAX = 60


@pytest.fixture
async def one_at_each() -> AsyncIterator[OneAtEach]:
    """Make a caller for each worker of a server."""
    async with AsyncExitStack() as callers:

        async def made(server: ServerProcess) -> list[Caller]:
            return await _one_at_each(server, callers)

        yield made


async def _one_at_each(server: ServerProcess, callers: AsyncExitStack) -> list[Caller]:
    """A caller for each worker: the kernel deals connections out, so they are opened until everybody has one."""
    workers = workers_of(server)
    found: dict[int, Caller] = {}
    for _ in range(CONNECTIONS_MAX):
        before = {worker: connections_of(worker, server) for worker in workers}
        token = server.token(tenant="tenant-1", user="engine-1")
        caller = await callers.enter_async_context(Caller(server.target, token, alone=True))
        await caller.channel.channel_ready()
        (serving,) = [worker for worker in workers if connections_of(worker, server) - before[worker]]
        found.setdefault(serving, caller)
        if len(found) == len(workers):
            return [found[worker] for worker in workers]
    raise AssertionError(f"{CONNECTIONS_MAX} connections all went to {len(found)} of {len(workers)} workers")


async def test_what_is_written_through_one_worker_is_read_and_streamed_by_the_others(
    serve: Serve, one_at_each: OneAtEach
) -> None:
    server = serve("--workers", "2")
    callers = await one_at_each(server)
    for writing, reading in (callers, callers[::-1]):
        session_id = fresh("session")
        await writing.sessions.CreateSession(
            pb.CreateSessionRequest(request_id=fresh(), session_id=session_id, user_id="user-1")
        )
        stream = reading.sessions.Subscribe(
            subscription_pb2.SubscribeRequest(session_id=session_id, after_version=1), metadata=reading.headers
        )
        async with asyncio.timeout(SECONDS_MAX):
            while not (await frame_of(stream)).HasField("caught_up"):
                pass
            await writing.sessions.Append(
                pb.AppendRequest(request_id=fresh(), session_id=session_id, messages=[said("hello")])
            )
            while not (frame := await frame_of(stream)).HasField("commit"):
                pass
        stream.cancel()
        read = await reading.sessions.GetSession(pb.GetSessionRequest(session_id=session_id, recent_messages=5))

        assert read.session.version == frame.commit.version == 2
        assert list(read.messages) == list(frame.commit.messages)
        assert read.messages[0].parts[0].text == "hello"


async def frame_of(stream: Any) -> subscription_pb2.SubscribeResponse:
    frame = await stream.read()
    assert isinstance(frame, subscription_pb2.SubscribeResponse)
    return frame


def is_replaced(server: ServerProcess, killed: int) -> bool:
    workers = serving_workers(server)
    return killed not in workers and len(workers) == 2


def counts(told: Mapping[str, list[str]]) -> dict[str, int]:
    return {session_id: len(texts) for session_id, texts in told.items()}


def go_on(told: Mapping[str, list[str]], before: Mapping[str, int]) -> bool:
    return all(count > before[session_id] for session_id, count in counts(told).items())


async def test_nothing_is_lost_or_doubled_when_a_worker_is_killed_under_traffic(serve: Serve, data_dir: Path) -> None:
    server = serve("--workers", "2")
    postmaster = postmaster_pid(data_dir)
    first_workers = workers_of(server)
    told: dict[str, list[str]] = {}
    writing = asyncio.Event()
    enough = asyncio.Event()

    async def write(session: SessionHandle) -> None:
        texts = told[session.session_id] = []
        while not enough.is_set():
            text = fresh("text")
            await session.append(messages=[user(text)])
            texts.append(text)
            if all(len(one) >= 5 for one in told.values()) and len(told) == WRITERS:
                writing.set()

    async def client() -> Client:
        return Client(server.target, token=server.token(tenant="tenant-1", user="engine-1"))

    async with asyncio.timeout(2 * SECONDS_MAX), asyncio.TaskGroup() as group:
        clients = [await client() for _ in range(WRITERS)]
        for one in clients:
            await one.__aenter__()
            group.create_task(write(await one.create(user_id="user-1")))
        await writing.wait()
        for killed in first_workers:
            os.kill(killed, signal.SIGKILL)
            await until(partial(is_replaced, server, killed), "a worker in the killed one's place", SECONDS_MAX)
            await until(partial(go_on, told, counts(told)), "every writer goes on", SECONDS_MAX)
        enough.set()
    for session_id, texts in told.items():
        stored = [message.parts[0].text async for message in clients[0].session(session_id).messages()]
        assert stored == texts
    for one in clients:
        await one.__aexit__(None, None, None)

    serving = workers_of(server)
    assert not set(serving) & set(first_workers)
    assert server.stop() == 0
    for pid in (*serving, postmaster):
        until_gone(pid)


async def test_a_killed_parent_leaves_no_worker_and_no_postgres(
    serve: Serve, call: Call, one_at_each: OneAtEach, data_dir: Path
) -> None:
    server = serve("--workers", "2")
    callers = await one_at_each(server)
    session_id = fresh("session")
    await callers[0].sessions.CreateSession(
        pb.CreateSessionRequest(request_id=fresh(), session_id=session_id, user_id="user-1")
    )
    left = (*workers_of(server), postmaster_pid(data_dir))

    server.kill()

    for pid in left:
        until_gone(pid)
    again = await call(serve()).sessions.GetSession(pb.GetSessionRequest(session_id=session_id))
    assert again.session.version == 1
