"""Case A25: cancelled calls leave no transaction, no connection and no half of a batch behind."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc import aio

from factories import fresh, said
from lockstitch.v1.session_service_pb2 import AppendRequest, ListMessagesRequest
from lockstitch_server.embedded import EmbeddedPostgres
from lockstitch_server.server_process import ServerProcess
from support.databases import TEMPLATE, Database, made_database
from support.stage import Stage

CALLS, SESSIONS, STREAMS, POOL = 200, 10, 20, 10
SECONDS_MIN, SECONDS_MAX = 0.001, 0.020
GIVEN_UP = {grpc.StatusCode.OK, grpc.StatusCode.CANCELLED, grpc.StatusCode.DEADLINE_EXCEEDED}
BACKENDS = """
    select application_name, state, wait_event_type
    from pg_stat_activity
    where datname = current_database() and usename = 'lockstitch_server'
"""


@pytest.fixture
async def database(postgres: EmbeddedPostgres) -> AsyncIterator[Database]:
    """A database that nobody else is connected to."""
    async with made_database(postgres, TEMPLATE) as made:
        yield made


@pytest.fixture
async def stage(database: Database, session_folder: Path) -> AsyncIterator[Stage]:
    settings = {"LOCKSTITCH_DATABASE_URL": database.app_url, "LOCKSTITCH_POOL_CONNECTIONS_MAX": str(POOL)}
    server = ServerProcess.start(session_folder / "keys-only", environment=settings)
    async with AsyncExitStack() as undo:
        yield Stage([server], undo)
    assert server.stop() == 0


async def test_cancelled_calls_leave_nothing_behind_and_are_done_once_when_they_are_sent_again(
    stage: Stage, database: Database
) -> None:
    session_ids = [await stage.session() for _ in range(SESSIONS)]
    requests = [
        AppendRequest(
            session_id=session_ids[number % SESSIONS],
            request_id=fresh("request"),
            messages=[said(f"{number}.{part}") for part in range(3)],
        )
        for number in range(CALLS)
    ]
    sessions = stage.caller().sessions
    giving_up = [_given_up(sessions, request, by_deadline=random.random() < 0.5) for request in requests]
    streaming = [_opened_and_cancelled(stage, session_ids[number % SESSIONS]) for number in range(STREAMS)]
    codes = await asyncio.gather(*giving_up, *streaming)
    assert set(codes) <= GIVEN_UP

    plain = AppendRequest(session_id=await stage.session(), request_id="plain", messages=[said("plain")])
    await _answered(sessions, plain)
    backends = await database.as_superuser(BACKENDS)
    assert sum(row["application_name"] == "lockstitch-server" for row in backends) <= POOL
    assert sum(row["application_name"] == "lockstitch-listener" for row in backends) == 1
    assert not any("in transaction" in (row["state"] or "") for row in backends)
    assert not any(row["wait_event_type"] == "Lock" for row in backends)

    for request in requests:
        await _answered(sessions, request)
    texts = []
    for session_id in session_ids:
        page = await sessions.ListMessages(ListMessagesRequest(session_id=session_id, page_size=1000))
        found = [message.parts[0].text for message in page.messages]
        for batch in zip(found[::3], found[1::3], found[2::3], strict=True):
            assert [text.split(".")[1] for text in batch] == ["0", "1", "2"]
            assert len({text.split(".")[0] for text in batch}) == 1
        texts += found
    assert sorted(texts) == sorted(f"{number}.{part}" for number in range(CALLS) for part in range(3))


async def _answered(sessions: Any, request: AppendRequest) -> None:
    """Call as every client does: again, where the server is too busy for a moment."""
    while (code := await _called(sessions, request, seconds=1)) != grpc.StatusCode.OK:
        assert code == grpc.StatusCode.UNAVAILABLE


async def _given_up(sessions: Any, request: AppendRequest, *, by_deadline: bool) -> grpc.StatusCode:
    """Call with too short a deadline, or cancel after as long."""
    seconds = random.uniform(SECONDS_MIN, SECONDS_MAX)
    call = asyncio.ensure_future(_called(sessions, request, seconds if by_deadline else None))
    if not by_deadline:
        await asyncio.wait([call], timeout=seconds)
        call.cancel()
    return await call


async def _called(sessions: Any, request: AppendRequest, seconds: float | None) -> grpc.StatusCode:
    try:
        await sessions.Append(request, timeout=seconds)
    except aio.AioRpcError as error:
        return error.code()
    except asyncio.CancelledError:
        return grpc.StatusCode.CANCELLED
    return grpc.StatusCode.OK


async def _opened_and_cancelled(stage: Stage, session_id: str) -> grpc.StatusCode:
    call = stage.open(session_id)
    reading = asyncio.ensure_future(_read_on(call))
    await asyncio.wait([reading], timeout=random.uniform(SECONDS_MIN, SECONDS_MAX))
    call.cancel()
    return await reading


async def _read_on(call: Any) -> grpc.StatusCode:
    try:
        async for _ in call:
            pass
    except aio.AioRpcError as error:
        return error.code()
    except asyncio.CancelledError:
        return grpc.StatusCode.CANCELLED
    return grpc.StatusCode.OK
