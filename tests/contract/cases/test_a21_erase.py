"""Case A21: what is deleted is left nowhere: no table, no log, no dump, no answer, no silent stream."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import grpc
import pytest

from factories import fresh, said
from lockstitch.v1.session_pb2 import SESSION_STATUS_DELETED
from lockstitch_server import ids
from lockstitch_server.server_process import ServerProcess
from support.databases import Database
from support.full_life import lived
from support.orphans import orphans
from support.rpc import As, Rpc, refusal
from support.scans import copies, dump, places
from support.streams import Reader, StreamRecord
from support.waiting import until_true

MARKER = "ERASE-ME-5519"
GONE = (grpc.StatusCode.NOT_FOUND, "SESSION_NOT_FOUND")
PURGE_AFTER = 3


@pytest.fixture(scope="module")
def server(database: Database, start_server: Callable[..., ServerProcess]) -> ServerProcess:
    return start_server(
        database,
        LOCKSTITCH_PURGE_AFTER=str(PURGE_AFTER),
        LOCKSTITCH_SWEEP_INTERVAL="0.2",
        LOCKSTITCH_SWEEP_SHARE="1",
    )


class Stage(NamedTuple):
    """Who calls whom, on what."""

    engine: Rpc
    admin: Rpc
    server: ServerProcess
    database: Database
    tenant: str


@pytest.fixture
async def stage(server: ServerProcess, call_as: As, database: Database, tenant: str) -> Stage:
    engine, admin = call_as("e", "engine", to=server), call_as("a", "admin", to=server)
    return Stage(engine, admin, server, database, tenant)


async def soft(engine: Rpc, _: Rpc, session_id: str, __: str) -> None:
    deleted = (await engine.DeleteSession(session_id=session_id, force=True)).session
    assert deleted.purge_time.ToNanoseconds() - deleted.delete_time.ToNanoseconds() == PURGE_AFTER * 10**9


async def hard(_: Rpc, admin: Rpc, session_id: str, __: str) -> None:
    await admin.PurgeSession(session_id=session_id, force=True)


async def erase_user(_: Rpc, admin: Rpc, __: str, user_id: str) -> None:
    answer = await admin.EraseUser(user_id=user_id)
    assert (answer.sessions_purged, answer.sessions_remaining) == (1, 0)


def ended_as_deleted(record: StreamRecord) -> bool:
    return getattr(record.end, "what", None) == GONE


@pytest.mark.parametrize("how", [soft, hard, erase_user])
async def test_a21(stage: Stage, postgres_bin: Path | None, how: Any) -> None:
    engine, admin, server, database, tenant = stage
    marker, user_id, session_id = f"{MARKER}-{fresh()}", fresh("user"), fresh("session")
    life = await lived(engine, database, tenant, marker, session_id=session_id, user_id=user_id)
    spared_user = user_id if how is not erase_user else fresh("user")
    spared = await lived(engine, database, tenant, "spared", user_id=spared_user)
    before = (await engine.GetSession(session_id=spared.session_id, recent_messages=100)).SerializeToString()
    on = {"session_id": session_id}
    assert len(await places(database, marker.encode())) > 10
    token = server.token(tenant=tenant, user=user_id, role="user")

    async with Reader([server.target], token, session_id, resume=False) as reader:
        await reader.caught_up()
        await how(engine, admin, session_id, user_id)
        assert ended_as_deleted(await reader.ended())
        if how is soft:
            assert reader.commits[-1].session.status == SESSION_STATUS_DELETED
    key = ids.session_key(tenant, session_id)
    await until_true(
        lambda: database.as_superuser("select from lockstitch.purged_sessions where session_key = $1", key),
        "the sweep",
    )

    assert await places(database, marker.encode(), session_id.encode()) == []
    assert copies(dump(database, postgres_bin), marker.encode(), session_id.encode()) == []
    assert await orphans(database) == []
    for late in (
        engine.GetSession(**on),
        engine.GetSession(**on, show_deleted=True),
        engine.GetSession(**on, at_version=3),
        *(getattr(engine, method)(**on, page_token=token, page_size=1) for method, token in life.tokens.items()),
        engine.Append(**on, request_id=life.request_ids[0], messages=[said("again")]),
        engine.DeleteSession(**on),
        engine.UndeleteSession(**on),
    ):
        assert (await refusal(late)).what == GONE
    async with Reader([server.target], token, session_id, resume=False) as late_reader:
        assert ended_as_deleted(await late_reader.ended())
    assert (await engine.GetSession(session_id=spared.session_id, recent_messages=100)).SerializeToString() == before
