"""Servers that streams are read from, on either bus for wake-ups."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from lockstitch_server.server_process import ServerProcess
from support.databases import Database
from support.folders import open_folder
from support.nats import nats_binary, running_nats
from support.stage import MakeStage, Stage, StartServer


@pytest.fixture(scope="session")
def nats() -> Iterator[str]:
    """The address of a NATS server."""
    binary = nats_binary()
    if binary is None:
        pytest.skip("nats-server is not installed: what goes over NATS is not tested")
    with open_folder() as folder, running_nats(binary, folder) as address:
        yield address


@pytest.fixture(scope="module", params=["notify", "nats"])
def bus(request: Any) -> dict[str, str]:
    """A server's settings of the bus; what takes this runs on both."""
    return {"LOCKSTITCH_NATS_URL": f"nats://{request.getfixturevalue('nats')}"} if request.param == "nats" else {}


@pytest.fixture(scope="module")
def servers(database: Database, bus: dict[str, str], start_server: StartServer) -> list[ServerProcess]:
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
    """One server on the module's database, for what needs no second one."""
    return Stage([server], undo)


@pytest.fixture
def make_stage(database: Database, start_server: StartServer, undo: AsyncExitStack) -> MakeStage:
    """Servers of a test's own, with these settings: `make_stage(2, LOCKSTITCH_STREAMS_MAX="3")`."""

    def made(count: int = 1, **settings: str) -> Stage:
        return Stage([start_server(database, **settings) for _ in range(count)], undo)

    return made


@pytest.fixture
def socket_path(database: Database) -> str:
    """Where the database's socket lies, for a proxy before it."""
    asked = parse_qs(urlsplit(database.app_url).query)
    return str(Path(asked["host"][0]) / f".s.PGSQL.{asked['port'][0]}")
