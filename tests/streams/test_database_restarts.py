"""The guarantees while the database is killed, stopped and started again, embedded and beside the server."""

import os
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from lockstitch_migrations import grant_app, migrate
from lockstitch_server.embedded import EmbeddedPostgres
from lockstitch_server.server_process import ServerProcess
from support.journal import Journal
from support.processes import postmaster_pid
from support.stage import Stage
from support.traffic import more_commits, traffic


@pytest.fixture
async def embedded(folder: Path) -> AsyncIterator[Stage]:
    """A server with its own Postgres inside."""
    server = ServerProcess.start(folder / "data")
    async with AsyncExitStack() as inner:
        yield Stage([server], inner)
    assert server.stop() == 0


async def test_an_embedded_postgres_that_is_killed_costs_a_stream_nothing(embedded: Stage, folder: Path) -> None:
    session_id, journal = await embedded.session(), Journal()
    readers = [await embedded.follow(session_id) for _ in range(3)]
    async with traffic(journal, [embedded.writer(session_id, journal) for _ in range(2)], readers):
        for _ in range(2):
            killed = postmaster_pid(folder / "data")
            os.kill(killed, signal.SIGKILL)
            postmaster_pid(folder / "data", after=killed)
            await more_commits(journal, 2)
    assert [len(reader.streams) for reader in readers] == [1, 1, 1], "a stream broke with the database"


async def test_an_external_postgres_that_is_killed_and_restarted_costs_streams_nothing(
    folder: Path, session_folder: Path, postgres_bin: Path | None, undo: AsyncExitStack
) -> None:
    async with _postgres(folder, postgres_bin) as running:
        urls = {"LOCKSTITCH_DATABASE_URL": running.app_url}
        servers = [ServerProcess.start(session_folder / "keys-only", environment=urls) for _ in range(2)]
        for server in servers:
            undo.callback(server.kill)
        stage = Stage(servers, undo)
        session_id, journal = await stage.session(), Journal()
        readers = [await stage.follow(session_id, targets=[server.target]) for server in servers]
        writers = [stage.writer(session_id, journal) for _ in range(2)]
        async with traffic(journal, writers, readers):
            os.kill(running.pid, signal.SIGKILL)
        async with traffic(journal, writers, readers):
            await running.stop()
            again = await EmbeddedPostgres.start(folder / "postgres", postgres_bin=postgres_bin)
        assert [len(reader.streams) for reader in readers] == [1, 1], "a stream broke with the database"
        assert [server.stop() for server in servers] == [0, 0]
        await again.stop()


@asynccontextmanager
async def _postgres(folder: Path, postgres_bin: Path | None) -> AsyncIterator[EmbeddedPostgres]:
    running = await EmbeddedPostgres.start(folder / "postgres", postgres_bin=postgres_bin)
    await migrate(running.owner_url)
    await grant_app(running.owner_url, running.app_url)
    yield running
