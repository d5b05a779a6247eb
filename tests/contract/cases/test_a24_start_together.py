"""Case A24: five servers make the schema at once, each in a time zone of its own choice."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from factories import fresh, said
from lockstitch_migrations import expected_schema
from lockstitch_server.server_process import ServerProcess
from support.databases import Database
from support.rpc import As, Rpc

SERVERS, CREATES = 5, 10


@pytest.mark.timeout(600)  # eleven starts, on whatever machine
async def test_five_servers_on_an_empty_database_all_serve_from_their_first_moment(
    call_as: As,
    empty_database: Database,
    start_server: Callable[..., ServerProcess],
) -> None:
    await empty_database.as_superuser(f"alter database {empty_database.name} set timezone to 'America/New_York'")
    settings = {
        "TZ": "Asia/Kolkata",
        "LOCKSTITCH_MIGRATION_URL": empty_database.owner_url,
        # Six servers on one database, which takes a hundred connections, some of them other tests' servers'.
        "LOCKSTITCH_POOL_CONNECTIONS_MAX": "3",
        "LOCKSTITCH_POOL_WAIT": "30",
    }

    def on_a_thread(act: Callable[[], Any]) -> Awaitable[Any]:
        return asyncio.get_running_loop().run_in_executor(threads, act)

    async def started() -> tuple[ServerProcess, Rpc, list[str]]:
        server = await on_a_thread(lambda: start_server(empty_database, **settings))
        rpc = call_as("new", "engine", to=server)
        return server, rpc, await asyncio.gather(*(_created(rpc) for _ in range(CREATES)))

    with ThreadPoolExecutor(SERVERS) as threads:
        first = await asyncio.gather(*(started() for _ in range(SERVERS)))
        assert len({session_id for *_, session_ids in first for session_id in session_ids}) == SERVERS * CREATES
        applied = await _migrations(empty_database)
        assert len({name for name, _ in applied}) == len(applied)
        assert applied[-1][0] == expected_schema()

        # One more starts while the others serve: it applies nothing, and breaks no call.
        serving = asyncio.create_task(_serve_on(first[0][1], first[0][2][0]))
        _, late, late_ids = await started()
        await serving
        assert await _migrations(empty_database) == applied

        # The five start again, one after the other, while that one serves.
        serving = asyncio.create_task(_serve_on(late, late_ids[0]))
        for server, *_ in first:
            assert await on_a_thread(server.stop) == 0
            await started()
        await serving
        assert await _migrations(empty_database) == applied

    assert len((await late.ListSessions(page_size=1000)).sessions) == (2 * SERVERS + 1) * CREATES


async def _created(rpc: Rpc) -> str:
    before = time.time()
    session = (await rpc.CreateSession(user_id="new")).session
    assert before - 1 < session.create_time.ToNanoseconds() / 1e9 < time.time() + 1
    session_id: str = session.session_id
    return session_id


async def _serve_on(rpc: Rpc, session_id: str) -> None:
    for number in range(100):
        receipt = (await rpc.Append(session_id=session_id, request_id=fresh(), messages=[said("hi")])).receipt
        assert receipt.version == number + 2


async def _migrations(database: Database) -> list[tuple[str, str]]:
    rows = await database.as_superuser("select name, applied_at::text from lockstitch.migrations order by name")
    return [(row[0], row[1]) for row in rows]
