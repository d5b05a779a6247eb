"""The fixtures every test may use; Postgres and servers are real, and started here."""

import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from lockstitch_migrations import grant_app, migrate
from lockstitch_server.auth import keys
from lockstitch_server.embedded import EmbeddedPostgres
from lockstitch_server.server_process import ServerProcess
from support.callers import Caller
from support.databases import TEMPLATE, Database, made_database
from support.folders import open_folder

Connect = Callable[..., Caller]

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts so what it puts in the background. What we start would inherit it: nothing could be interrupted.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def session_folder() -> Iterator[Path]:
    """A folder for the whole run, with the signing key that every server of it shares."""
    with open_folder() as folder:
        keys.load_or_make(folder / "keys-only")
        yield folder


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder of the test's own."""
    with open_folder() as made:
        yield made


@pytest.fixture(scope="session")
def postgres_bin() -> Path | None:
    """The binaries to test on: those named, or None for the wheel's."""
    return Path(named) if (named := os.environ.get("LOCKSTITCH_POSTGRES_BIN")) else None


@pytest.fixture(scope="session")
async def postgres(session_folder: Path, postgres_bin: Path | None) -> AsyncIterator[EmbeddedPostgres]:
    """One Postgres for the whole run, whose database `lockstitch` is migrated and cloned from."""
    async with await EmbeddedPostgres.start(session_folder / "postgres", postgres_bin=postgres_bin) as running:
        await migrate(running.owner_url)
        await grant_app(running.owner_url, running.app_url)
        yield running


@pytest.fixture(scope="module")
async def database(postgres: EmbeddedPostgres) -> AsyncIterator[Database]:
    """A migrated database of the module's own. Tests keep apart by tenants and session ids of their own."""
    async with made_database(postgres, TEMPLATE) as made:
        yield made


@pytest.fixture
async def empty_database(postgres: EmbeddedPostgres) -> AsyncIterator[Database]:
    """A database of the test's own, without a schema."""
    async with made_database(postgres) as made:
        yield made


@pytest.fixture(scope="module")
def start_server(session_folder: Path) -> Iterator[Callable[..., ServerProcess]]:
    """Start real servers: `start_server(database, LOCKSTITCH_WORKERS="2")`; they are stopped with the module."""
    started: list[ServerProcess] = []

    def start(database: Database, **settings: str) -> ServerProcess:
        environment = {"LOCKSTITCH_DATABASE_URL": database.app_url} | settings
        started.append(ServerProcess.start(session_folder / "keys-only", environment=environment))
        return started[-1]

    yield start
    alive = [server for server in started if server.process.poll() is None]
    codes = {server.target: server.stop() for server in started}
    assert not any(codes[server.target] for server in alive), "a server did not stop cleanly"


@pytest.fixture(scope="module")
def server(database: Database, start_server: Callable[..., ServerProcess]) -> ServerProcess:
    """A real server on the module's database."""
    return start_server(database)


@pytest.fixture(scope="module")
def server_pair(
    database: Database, server: ServerProcess, start_server: Callable[..., ServerProcess]
) -> tuple[ServerProcess, ServerProcess]:
    """Two real servers on one database; the first is `server`."""
    return server, start_server(database)


@pytest.fixture
async def connect(server: ServerProcess) -> AsyncIterator[Connect]:
    """Make callers: `connect(tenant=…, user=…, role=…)`, with `to=` another server, or `token=` as it is."""
    async with AsyncExitStack() as open_callers:

        def caller(
            *,
            to: ServerProcess = server,
            tenant: str = "tenant-1",
            user: str = "engine-1",
            role: str = "engine",
            token: str | None = None,
        ) -> Caller:
            made = Caller(to.target, to.token(tenant=tenant, user=user, role=role) if token is None else token)
            open_callers.push_async_callback(made.close)
            return made

        yield caller
