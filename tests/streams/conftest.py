"""Servers that streams are read from, on either bus for wake-ups; started once for all tests of this folder."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from lockstitch_server.embedded import EmbeddedPostgres
from lockstitch_server.server_process import ServerProcess
from support.databases import TEMPLATE, Database, made_database
from support.folders import open_folder
from support.nats import nats_binary, running_nats
from support.stage import MakeStage, Stage


@pytest.fixture(scope="session")
def nats() -> Iterator[str]:
    """The address of a NATS server."""
    binary = nats_binary()
    if binary is None:
        pytest.skip("nats-server is not installed: what goes over NATS is not tested")
    with open_folder() as folder, running_nats(binary, folder) as address:
        yield address


@pytest.fixture(scope="session", params=["notify", "nats"])
def bus(request: Any) -> dict[str, str]:
    """A server's settings of the bus; what takes this runs on both."""
    return {"LOCKSTITCH_NATS_URL": f"nats://{request.getfixturevalue('nats')}"} if request.param == "nats" else {}


@pytest.fixture(scope="session")
async def database(postgres: EmbeddedPostgres) -> AsyncIterator[Database]:
    """One database for all; tests keep apart by tenants of their own."""
    async with made_database(postgres, TEMPLATE) as made:
        yield made


@pytest.fixture(scope="session")
def start_server(session_folder: Path) -> Iterator[Callable[..., ServerProcess]]:
    """Start a server: `start_server(database, LOCKSTITCH_WORKERS="2")`; it is stopped in the end."""
    started: list[ServerProcess] = []

    def start(database: Database, **settings: str) -> ServerProcess:
        environment = {"LOCKSTITCH_DATABASE_URL": database.app_url} | settings
        started.append(ServerProcess.start(session_folder / "keys-only", environment=environment))
        return started[-1]

    yield start
    alive = [server for server in started if server.process.poll() is None]
    codes = [server.stop() for server in alive]
    assert not any(codes), "a server did not stop cleanly"


@pytest.fixture(scope="session")
def server(database: Database, start_server: Callable[..., ServerProcess]) -> ServerProcess:
    """A server for what needs no second one."""
    return start_server(database)


@pytest.fixture(scope="session")
def servers(database: Database, bus: dict[str, str], start_server: Callable[..., ServerProcess]) -> list[ServerProcess]:
    """Two servers on one database that hear each other by the bus."""
    return [start_server(database, **bus) for _ in range(2)]


@pytest.fixture
async def undo() -> AsyncIterator[AsyncExitStack]:
    """What is undone with the test."""
    async with AsyncExitStack() as stack:
        yield stack


@pytest.fixture
def stage(servers: list[ServerProcess], undo: AsyncExitStack) -> Stage:
    """The two servers."""
    return Stage(servers, undo)


@pytest.fixture
def one_server(server: ServerProcess, undo: AsyncExitStack) -> Stage:
    """The one server."""
    return Stage([server], undo)


@pytest.fixture
def make_stage(database: Database, start_server: Callable[..., ServerProcess], undo: AsyncExitStack) -> MakeStage:
    """Servers of a test's own, with these settings: `await make_stage(2, LOCKSTITCH_STREAMS_MAX="3")`."""

    async def made(count: int = 1, **settings: str) -> Stage:
        # In threads, since the test's loop may carry what a server needs to start and to stop.
        async with asyncio.TaskGroup() as group:
            starts = [group.create_task(asyncio.to_thread(start_server, database, **settings)) for _ in range(count)]
        servers = [start.result() for start in starts]

        async def stop() -> None:
            alive = [server for server in servers if server.process.poll() is None]
            codes = await asyncio.gather(*(asyncio.to_thread(server.stop) for server in alive))
            assert not any(codes), "a server did not stop cleanly"

        undo.push_async_callback(stop)
        return Stage(servers, undo)

    return made
