"""Servers on data folders of their own, to be killed."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from lockstitch_server.server_process import ServerProcess
from support.callers import Caller
from support.folders import open_folder

Serve = Callable[..., ServerProcess]


@pytest.fixture(scope="module")
def data_dir() -> Iterator[Path]:
    """A data folder that the module's tests start servers on, one after the other."""
    with open_folder() as folder:
        yield folder / "data"


@pytest.fixture
def serve(data_dir: Path) -> Iterator[Serve]:
    """Start a server on `data_dir`: `serve("--workers", "2", LOCKSTITCH_LOG_LEVEL="debug")`."""
    started: list[ServerProcess] = []

    def start(*arguments: str, folder: Path = data_dir, **settings: str) -> ServerProcess:
        started.append(ServerProcess.start(folder, arguments=arguments, environment=settings))
        return started[-1]

    yield start
    for server in started:
        server.stop()


@pytest.fixture
async def call() -> AsyncIterator[Callable[[ServerProcess], Caller]]:
    """Call a server as an engine of one tenant."""
    async with AsyncExitStack() as open_callers:

        def caller(server: ServerProcess) -> Caller:
            made = Caller(server.target, server.token(tenant="tenant-1", user="engine-1", role="engine"))
            open_callers.push_async_callback(made.close)
            return made

        yield caller
