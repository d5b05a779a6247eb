"""How many streams may be open, and that an open one costs no database connection."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import grpc
import pytest
from grpc import aio

from lockstitch.v1.subscription_pb2 import SubscribeRequest
from lockstitch_server.embedded import EmbeddedPostgres
from support.databases import TEMPLATE, made_database
from support.rpc import Refusal, outcome
from support.stage import MakeStage, Stage
from support.streams import subscribe
from support.waiting import POLL_SECONDS

LIMITED = (grpc.StatusCode.RESOURCE_EXHAUSTED, "SUBSCRIPTION_LIMIT")
IDLE_STREAMS = 200
POOL_CONNECTIONS_MAX = 10


async def opened(stage: Stage, session_id: str, **of: str) -> Any:
    """Open a stream of this caller: the call, or the Refusal."""
    token = stage.servers[0].token(**{"tenant": stage.tenant, "user": "engine-1", "role": "engine"} | of)
    call = stage.open(session_id, token=token)
    first = await outcome(call.read())
    return first if isinstance(first, Refusal) else call


async def until_opened(stage: Stage, session_id: str) -> Any:
    """Wait until there is room for one stream, and open it."""
    async with asyncio.timeout(30):
        while isinstance(call := await opened(stage, session_id), Refusal):
            assert call.what == LIMITED
            await asyncio.sleep(POLL_SECONDS)
    return call


async def test_one_stream_too_many_of_a_user_a_tenant_and_the_process_is_refused(make_stage: MakeStage) -> None:
    stage = await make_stage(
        LOCKSTITCH_USER_STREAMS_MAX="3", LOCKSTITCH_TENANT_STREAMS_MAX="5", LOCKSTITCH_STREAMS_MAX="6"
    )
    session_id, other_tenant = await stage.session(), Stage(stage.servers, stage.undo)
    other_session_id = await other_tenant.session()
    mine = [await opened(stage, session_id) for _ in range(3)]
    await _check_refused(stage, session_id, "user", 3)
    for _ in range(2):
        assert not isinstance(await opened(stage, session_id, user="engine-2"), Refusal)
    await _check_refused(stage, session_id, "tenant", 5, user="engine-2")
    assert not isinstance(await opened(other_tenant, other_session_id), Refusal)
    await _check_refused(other_tenant, other_session_id, "process", 6)
    mine[0].cancel()
    await until_opened(stage, session_id)
    await _check_refused(stage, session_id, "user", 3)


async def _check_refused(stage: Stage, session_id: str, whose: str, most: int, **of: str) -> None:
    refused = await opened(stage, session_id, **of)
    assert (refused.what, refused.metadata) == (LIMITED, {"limit": str(most)})
    assert whose in refused.text


async def _cancelled(stage: Stage, session_id: str) -> None:
    (await until_opened(stage, session_id)).cancel()


async def _left_without_a_word(stage: Stage, session_id: str) -> None:
    channel = aio.insecure_channel(stage.servers[0].target, options=[("grpc.use_local_subchannel_pool", 1)])
    await subscribe(channel, stage.token(), session_id=session_id).read()
    await channel.close()


async def _out_of_time(stage: Stage, session_id: str) -> None:
    stub: Any = stage.caller().sessions
    headers = [("authorization", f"Bearer {stage.token()}")]
    call = stub.Subscribe(SubscribeRequest(session_id=session_id), metadata=headers, timeout=0.5)
    with pytest.raises(aio.AioRpcError, match="DEADLINE_EXCEEDED"):
        async for _ in call:
            pass


async def _refused(stage: Stage, session_id: str) -> None:
    await _until_refused_for("SESSION_NOT_FOUND", stage, session_id=f"{session_id}-that-never-was")


async def _cursor_ahead(stage: Stage, session_id: str) -> None:
    await _until_refused_for("CURSOR_AHEAD", stage, session_id=session_id, after_version=99)


async def _until_refused_for(reason: str, stage: Stage, **asked: Any) -> None:
    """Be refused for a reason, as soon as there is room for so much."""
    async with asyncio.timeout(30):
        while (refused := await outcome(stage.open(**asked).read())).reason != reason:
            assert refused.what == LIMITED
            await asyncio.sleep(POLL_SECONDS)


ENDS: list[Callable[[Stage, str], Awaitable[None]]] = [
    _cancelled,
    _left_without_a_word,
    _out_of_time,
    _refused,
    _cursor_ahead,
]


async def test_a_stream_counts_no_more_however_it_ended(make_stage: MakeStage) -> None:
    stage = await make_stage(LOCKSTITCH_USER_STREAMS_MAX="1")
    session_id = await stage.session()
    for end in ENDS:
        for _ in range(3):
            await end(stage, session_id)
            (await until_opened(stage, session_id)).cancel()
            await _cancelled(stage, session_id)


async def test_open_streams_hold_no_database_connection(
    postgres: EmbeddedPostgres, make_stage: MakeStage, undo: AsyncExitStack
) -> None:
    database = await undo.enter_async_context(made_database(postgres, TEMPLATE))
    stage = await make_stage(
        LOCKSTITCH_DATABASE_URL=database.app_url, LOCKSTITCH_POOL_CONNECTIONS_MAX=str(POOL_CONNECTIONS_MAX)
    )
    session_ids = [await stage.session() for _ in range(20)]
    calls = [stage.open(session_ids[number % 20]) for number in range(IDLE_STREAMS)]
    for call in calls:
        while not (await call.read()).HasField("caught_up"):
            pass
    backends = await database.as_superuser(
        "select application_name, state from pg_stat_activity "
        "where datname = current_database() and application_name like 'lockstitch%'"
    )
    assert not any("in transaction" in (row["state"] or "") for row in backends)
    names = [row["application_name"] for row in backends]
    assert names.count("lockstitch-server") <= POOL_CONNECTIONS_MAX
    assert names.count("lockstitch-listener") == 1
    async with asyncio.timeout(30):
        for session_id in session_ids:
            await stage.rpc().CloseSession(session_id=session_id)
        for call in calls:
            while not (await call.read()).HasField("commit"):
                pass
