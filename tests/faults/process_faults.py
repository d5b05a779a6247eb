"""Servers, Postgres and its backends that are killed, stand still, or are told to end."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress

from faults.fault import Play, fault
from support.waiting import until

_STOPPED = (0.5, 9.0)
_POSTMASTER_SECONDS_MAX = 60.0
_AGAIN_SECONDS = 0.1


@fault("server killed", hold=(0.0, 2.0))
async def server_killed(play: Play) -> AsyncIterator[None]:
    """As kill -9 does, with all that is under way."""
    servers = play.some()
    try:
        await asyncio.gather(*(server.kill() for server in servers))
        yield
    finally:
        await asyncio.gather(*(server.start() for server in servers))


@fault("server restarted", hold=(0.0, 1.0))
async def server_restarted(play: Play) -> AsyncIterator[None]:
    """Told to stop, it lets calls finish; another one takes its place."""
    server = play.one()
    try:
        code = await server.stop()
        assert code == 0, f"a server that was told to stop ended with {code}; it said last: {server.last_words()}"
        yield
    finally:
        await server.start()


@fault("server stands still", hold=_STOPPED)
async def server_stands_still(play: Play) -> AsyncIterator[None]:
    """As a machine that swaps, or a virtual one that is moved."""
    async with AsyncExitStack() as still:
        for server in play.some():
            await still.enter_async_context(_standing_still(server.pid))
        yield


@fault("postmaster killed", hold=(0.0, 0.5))
async def postmaster_killed(play: Play) -> AsyncIterator[None]:
    """As kill -9 does; its backends find out by themselves, and it is started again."""
    killed = play.stage.postgres.pid
    try:
        os.kill(killed, signal.SIGKILL)
        yield
    finally:
        postgres = play.stage.postgres
        await until(lambda: postgres.pid != killed, "another postmaster", _POSTMASTER_SECONDS_MAX)
        await play.stage.database_answers()


@fault("backend killed", hold=(0.0, 0.5))
async def backend_killed(play: Play) -> AsyncIterator[None]:
    """As kill -9 does: Postgres then ends all of them, and recovers."""
    pid = play.random.choice(await play.stage.backends())
    try:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        yield
    finally:
        await play.stage.database_answers()


@fault("postmaster stands still", hold=_STOPPED)
async def postmaster_stands_still(play: Play) -> AsyncIterator[None]:
    """Connections that are open go on; no further one is answered."""
    pids = await play.stage.backends()
    async with _standing_still(play.stage.postgres.pid):
        # A server that opens a connection anew finds nobody.
        for pid in play.random.sample(pids, k=len(pids) // 2):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        yield


@fault("backend stands still", hold=(0.5, 14.0))
async def backend_stands_still(play: Play) -> AsyncIterator[None]:
    """With the locks that it holds, for longer than statements may take."""
    async with _standing_still(play.random.choice(await play.stage.backends())):
        yield


@fault("every connection terminated", hold=(0.0, 2.0))
async def every_connection_terminated(play: Play) -> AsyncIterator[None]:
    """By pg_terminate_backend, again and again."""
    async with _again_and_again(play, "%"):
        yield


@fault("listener cut", hold=(0.2, 5.0))
async def listener_cut(play: Play) -> AsyncIterator[None]:
    """Nobody hears of others' commits; streams have to look by themselves."""
    async with _again_and_again(play, "lockstitch-listener"):
        yield


@asynccontextmanager
async def _standing_still(pid: int) -> AsyncIterator[None]:
    try:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)
        yield
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


@asynccontextmanager
async def _again_and_again(play: Play, application: str) -> AsyncIterator[None]:
    """End connections for as long as the context lasts."""

    async def terminate() -> None:
        while True:
            await play.stage.terminate(application)
            await asyncio.sleep(_AGAIN_SECONDS)

    await play.stage.terminate(application)
    task = asyncio.create_task(terminate(), name=f"terminate {application}")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
