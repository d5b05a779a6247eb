"""How many connections a process holds: those of calls, and one that sweeps."""

import asyncio
from collections.abc import Callable

import pytest

from factories import said
from lockstitch_server.embedded import EmbeddedPostgres
from lockstitch_server.server_process import ServerProcess
from support.callers import Caller
from support.databases import TEMPLATE, made_database
from support.rpc import Rpc
from support.waiting import until_true

CALLS = 40
CONNECTIONS = "select pid from pg_stat_activity where datname = current_database() and application_name = $1"


@pytest.mark.parametrize(("most", "held"), [(1, 2), (2, 2), (4, 4)])
async def test_the_background_connection_is_one_of_those_a_process_may_hold_and_calls_have_one_at_least(
    postgres: EmbeddedPostgres, start_server: Callable[..., ServerProcess], most: int, held: int
) -> None:
    async with made_database(postgres, TEMPLATE) as database:
        server = start_server(
            database,
            LOCKSTITCH_POOL_CONNECTIONS_MAX=str(most),
            LOCKSTITCH_POOL_WAIT="20",
            LOCKSTITCH_GROUP_COMMIT="false",
            LOCKSTITCH_SWEEP_INTERVAL="0.1",
        )
        async with Caller(server.target, server.token(user="e", role="engine")) as caller:
            rpc = Rpc(caller)
            await rpc.CreateSession(session_id="s")
            await asyncio.gather(*(rpc.Append(session_id="s", messages=[said("hi")]) for _ in range(CALLS)))
            assert (await rpc.GetSession(session_id="s")).session.version == 1 + CALLS

        async def all_are_open() -> bool:
            return len(await database.as_superuser(CONNECTIONS, "lockstitch-server")) >= held

        await until_true(all_are_open, "the first look of the sweeper")
        assert len(await database.as_superuser(CONNECTIONS, "lockstitch-server")) == held
        assert len(await database.as_superuser(CONNECTIONS, "lockstitch-listener")) == 1
        assert server.stop() == 0
