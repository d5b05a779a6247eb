"""Two real servers on one database for the whole contract; each test is a tenant of its own."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from factories import fresh
from lockstitch_server import ids
from lockstitch_server.embedded import EmbeddedPostgres
from lockstitch_server.server_process import ServerProcess
from support.callers import Caller
from support.databases import TEMPLATE, Database, made_database
from support.rpc import As, Create, Rpc


@pytest.fixture(scope="session")
async def shared_database(postgres: EmbeddedPostgres) -> AsyncIterator[Database]:
    """The database behind `shared_servers`."""
    async with made_database(postgres, TEMPLATE) as made:
        yield made


@pytest.fixture(scope="session")
def shared_servers(shared_database: Database, session_folder: Path) -> Iterator[tuple[ServerProcess, ServerProcess]]:
    """Two server processes on one database."""
    environment = {"LOCKSTITCH_DATABASE_URL": shared_database.app_url}
    pair = [ServerProcess.start(session_folder / "keys-only", environment=environment) for _ in range(2)]
    yield pair[0], pair[1]
    assert [server.stop() for server in pair] == [0, 0], "a server did not stop cleanly"


@pytest.fixture
def tenant() -> str:
    """A tenant that no other test has."""
    return fresh("tenant")


@pytest.fixture
async def call_as(shared_servers: tuple[ServerProcess, ServerProcess], tenant: str) -> AsyncIterator[As]:
    """Make callers: `call_as("u1")`, `call_as("e1", "engine", server=1)`, `call_as("u1", tenant="other")`."""
    async with AsyncExitStack() as open_callers:

        def caller(
            user: str = "u1",
            role: str = "user",
            *,
            tenant: str = tenant,
            server: int = 0,
            to: ServerProcess | None = None,
        ) -> Rpc:
            target = to or shared_servers[server]
            made = Caller(target.target, target.token(tenant=tenant, user=user, role=role))
            open_callers.push_async_callback(made.close)
            return Rpc(made)

        yield caller


# Callers belong to the loop that makes them, so the fixtures that make them run in it.


@pytest.fixture
async def engine(call_as: As) -> Rpc:
    """An engine of the test's tenant."""
    return call_as("engine-1", "engine")


@pytest.fixture
async def engines(call_as: As, engine: Rpc) -> tuple[Rpc, Rpc]:
    """The engine, and one more that calls the other server process."""
    return engine, call_as("engine-2", "engine", server=1)


@pytest.fixture
async def user(call_as: As) -> Rpc:
    """The user u1 of the test's tenant."""
    return call_as("u1")


@pytest.fixture
def lapse(shared_database: Database, tenant: str) -> Callable[[str], Awaitable[None]]:
    """Let the lease of a session's run be over, as if its holder had slept."""

    async def lapsed(session_id: str) -> None:
        key = ids.session_key(tenant, session_id)
        await shared_database.as_superuser(
            "update lockstitch.run_leases set lease_expire_time = clock_timestamp() where session_key = $1", key
        )

    return lapsed


@pytest.fixture
def create(engine: Rpc) -> Create:
    """Create a session of the user u1, and give its id."""

    async def made(**fields: object) -> str:
        answer = await engine.CreateSession(**{"user_id": "u1"} | fields)
        session_id: str = answer.session.session_id
        return session_id

    return made
