"""Runs whose holders stop, die or lose their server."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from lockstitch import Client, RunActive, RunHandle, SessionHandle, assistant, new_call, user
from lockstitch.types import RunStatus, ToolCallStatus
from lockstitch_server.server_process import ServerProcess
from support import run_holder
from support.proxy import proxy_to, to_tcp
from support.waiting import POLL_SECONDS, until

SUCCEEDED = RunStatus.RUN_STATUS_SUCCEEDED
EXPIRED = RunStatus.RUN_STATUS_EXPIRED
SHORT = timedelta(seconds=1)

Hold = Callable[[str], "subprocess.Popen[str]"]


@pytest.fixture
def hold(server: ServerProcess) -> Iterator[Hold]:
    """Start processes that hold a run of a session."""
    started: list[subprocess.Popen[str]] = []
    where = {"LOCKSTITCH_TARGET": server.target, "LOCKSTITCH_TOKEN": server.token(tenant="client-tests")}

    def start(session_id: str) -> "subprocess.Popen[str]":
        command = [sys.executable, run_holder.__file__, session_id, str(SHORT.total_seconds())]
        pipe = subprocess.PIPE
        started.append(subprocess.Popen(command, env=os.environ | where, stdin=pipe, stdout=pipe, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def told(process: "subprocess.Popen[str]") -> str:
    assert process.stdout
    return process.stdout.readline().strip()


def tell(process: "subprocess.Popen[str]", line: str) -> None:
    assert process.stdin
    process.stdin.write(f"{line}\n")
    process.stdin.flush()


async def take_over(session: SessionHandle, until_then: AsyncExitStack) -> RunHandle:
    """Starts a run as soon as nobody else's lease is live."""
    async with asyncio.timeout(20):
        while True:
            try:
                return await until_then.enter_async_context(session.run(worker="successor"))
            except RunActive:
                await asyncio.sleep(POLL_SECONDS)


async def test_a_holder_that_was_stopped_beyond_its_lease_is_fenced_when_it_wakes(client: Client, hold: Hold) -> None:
    session = await client.create()
    process = hold(session.session_id)
    run_id = (await asyncio.to_thread(told, process)).removeprefix("held ")
    tell(process, "before")
    assert await asyncio.to_thread(told, process) == "stored"
    process.send_signal(signal.SIGSTOP)
    async with AsyncExitStack() as until_then:
        successor = await take_over(session, until_then)
        tell(process, "after")
        process.send_signal(signal.SIGCONT)
        assert await asyncio.to_thread(told, process) == "RunFenced"
        await successor.append(messages=[assistant("mine")])
    assert [(run.run_id, run.status) async for run in session.runs()] == [
        (successor.run_id, SUCCEEDED),
        (run_id, EXPIRED),
    ]
    assert [message.parts[0].text async for message in session.messages()] == ["before", "mine"]


async def test_a_run_whose_holder_was_killed_is_taken_over(client: Client, hold: Hold) -> None:
    session = await client.create()
    process = hold(session.session_id)
    run_id = (await asyncio.to_thread(told, process)).removeprefix("held ")
    process.kill()
    with pytest.raises(RunActive):
        async with session.run():
            pytest.fail("the lease is live")
    async with AsyncExitStack() as until_then:
        successor = await take_over(session, until_then)
        assert (await session.get_run(run_id)).status == EXPIRED
        assert successor.fencing_token == 2


async def test_a_run_goes_on_when_its_server_is_killed_and_comes_back(folder: Path) -> None:
    server = ServerProcess.start(folder / "data")
    target, token = server.target, server.token()
    try:
        async with Client(target, token=token, timeout=timedelta(seconds=60)) as client:
            session = await client.create()
            async with session.run(lease=SHORT) as run:
                await run.append(messages=[user("before")])
                job = new_call("c1", "act", {}, status=ToolCallStatus.TOOL_CALL_STATUS_RUNNING)
                await run.append(tool_calls=[job])
                await asyncio.to_thread(server.kill)
                writing = asyncio.create_task(run.append(messages=[assistant("during")]))
                server = await asyncio.to_thread(ServerProcess.start, folder / "data", arguments=["--listen", target])
                await writing
                seen = run.lease_expire_time
                await until(lambda: run.lease_expire_time > seen + SHORT, "renewals by the new server")
                done = await run.complete_tool_call(call_id="c1", result="acted")
                assert done.tool_call.status == ToolCallStatus.TOOL_CALL_STATUS_SUCCEEDED
            assert [(one.run_id, one.status) async for one in session.runs()] == [(run.run_id, SUCCEEDED)]
            assert [message.parts[0].text async for message in session.messages()] == ["before", "during"]
    finally:
        await asyncio.to_thread(server.stop)


async def test_a_run_outlives_a_network_that_says_nothing(server: ServerProcess, client: Client) -> None:
    token = server.token(tenant="client-tests")
    async with proxy_to(to_tcp(server.target)) as network, Client(network.target, token=token) as far:
        near = await client.create()
        async with far.session(near.session_id).run(lease=SHORT) as run:
            network.stall()
            async with asyncio.timeout(20):
                while (await near.get_run(run.run_id)).lease_expire_time.ToDatetime() > await now(client):
                    await asyncio.sleep(POLL_SECONDS)
            network.restore()
            lapsed = run.lease_expire_time
            await until(lambda: run.lease_expire_time > lapsed, "a renewal behind the silence")
            await run.append(messages=[assistant("Still here.")])
    assert [one.status async for one in near.runs()] == [SUCCEEDED]


async def now(client: Client) -> datetime:
    """The server's own time, in UTC."""
    return (await client.server_info()).time.ToDatetime()
