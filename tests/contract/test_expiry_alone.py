"""CONTRACT 7: a session expires by itself, while no sweeper comes by."""

from collections.abc import Callable

import pytest
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from factories import said
from lockstitch.v1.session_pb2 import SESSION_STATUS_EXPIRED
from lockstitch_server.server_process import ServerProcess
from support.blocking import UNSWEPT
from support.databases import Database
from support.every_change import prepared
from support.rpc import Create, Rpc, refusal
from support.statuses import status_everywhere
from support.waiting import until_true


@pytest.fixture(scope="module")
def shared_servers(database: Database, start_server: Callable[..., ServerProcess]) -> tuple[ServerProcess, ...]:
    """One, on a database of its own."""
    return (start_server(database, **UNSWEPT),)


@pytest.mark.parametrize("life", ["ttl", "expire_time", "idle_ttl"])
async def test_a_life_ends_from_that_instant_on_without_anybody_doing_anything(
    engine: Rpc, create: Create, life: str
) -> None:
    soon = Timestamp()
    soon.GetCurrentTime()
    soon.seconds += 4
    session_id = await prepared(create, **{life: soon if life == "expire_time" else Duration(seconds=3)})

    async def has_expired() -> bool:
        return SESSION_STATUS_EXPIRED in await status_everywhere(engine, session_id)

    assert not await has_expired()
    await engine.Append(session_id=session_id, messages=[said("in time")])
    await until_true(has_expired, "its end")
    assert await status_everywhere(engine, session_id) == [SESSION_STATUS_EXPIRED] * 4
    session = (await engine.GetSession(session_id=session_id)).session
    assert session.version == 2
    refused = await refusal(engine.Append(session_id=session_id, messages=[said("late")]))
    assert refused.reason == "SESSION_EXPIRED"
