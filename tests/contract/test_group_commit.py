"""Appends that are made together: each is answered by itself, and made once, whatever becomes of the others."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Sized
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc import aio

from factories import answered, called, fresh, said, texts_of
from lockstitch_migrations import grant_app, migrate
from lockstitch_server.embedded import EmbeddedPostgres
from lockstitch_server.server_process import ServerProcess
from support.callers import Caller
from support.databases import Database
from support.rpc import As, Create, Refusal, Rpc, as_replayed, outcome
from support.running import fence_of, started
from support.stored import held, transactions
from support.waiting import until, until_true

KILLS = 2
WRITERS = 24
BATCH_IS_MADE = """
    select pid from pg_stat_activity
    where state = 'active' and query like '%commit_batch_v1%' and pid <> pg_backend_pid()
"""


async def test_each_of_many_at_once_is_answered_by_itself(
    engines: tuple[Rpc, Rpc], create: Create, call_as: As, shared_database: Database, tenant: str
) -> None:
    stranger = call_as("e", "engine", tenant=fresh("tenant"), server=1)
    made = await create(session_id=fresh("made"))
    closed, busy, ledger, twice = [await create() for _ in range(4)]
    await engines[0].CloseSession(session_id=closed)
    lost = fence_of(await started(engines[0], busy))
    await engines[1].StartRun(session_id=busy, on_busy="ON_BUSY_INTERRUPT")
    await engines[0].Append(session_id=ledger, messages=[called("c")])
    await engines[0].Append(session_id=ledger, messages=[answered("c", '"one"')])
    first = await engines[0].Append(session_id=twice, request_id="r", messages=[said("once")])
    plain = [await create() for _ in range(20)]

    def all_of(rpc: Rpc) -> list[Awaitable[Any]]:
        return [
            *(rpc.Append(session_id=session_id, messages=[said("hi")]) for session_id in plain),
            rpc.Append(session_id=fresh("nowhere"), messages=[said("hi")]),
            stranger.Append(session_id=made, messages=[said("hi")]),
            rpc.Append(session_id=closed, messages=[said("hi")]),
            rpc.Append(session_id=busy, fence=lost, messages=[said("hi")]),
            rpc.Append(session_id=ledger, messages=[answered("c", '"two"')]),
            rpc.Append(session_id=ledger, messages=[answered("nobody", '"two"')]),
            rpc.Append(session_id=twice, request_id="r", messages=[said("once")]),
            rpc.Append(session_id=twice, request_id="r", messages=[said("else")]),
            rpc.Append(session_id=made, expected_version=7, messages=[said("hi")]),
        ]

    told = await asyncio.gather(*(outcome(call) for rpc in engines for call in all_of(rpc)))
    for half in (told[: len(told) // 2], told[len(told) // 2 :]):
        assert not any(isinstance(answer, Refusal) for answer in half[:20])
        assert [answer.reason if isinstance(answer, Refusal) else answer.receipt for answer in half[20:]] == [
            "SESSION_NOT_FOUND",
            "SESSION_NOT_FOUND",
            "SESSION_CLOSED",
            "RUN_FENCED",
            "TOOL_CALL_ENDED",
            "TOOL_CALL_NOT_FOUND",
            as_replayed(first.receipt),
            "REQUEST_ID_REUSED",
            "VERSION_CONFLICT",
        ]
    made_in = await transactions(shared_database, tenant, *plain)
    assert len(made_in) == 2 * len(plain)
    assert len(set(made_in)) < len(made_in)


async def test_a_session_that_somebody_holds_holds_up_no_other(
    engines: tuple[Rpc, Rpc], create: Create, shared_database: Database, tenant: str
) -> None:
    busy, *others = [await create() for _ in range(9)]
    async with held(shared_database, tenant, busy):
        # On each server more than it has connections.
        stuck = [
            asyncio.ensure_future(engines[place % 2].Append(session_id=busy, messages=[said(str(place))]))
            for place in range(40)
        ]
        for number in range(4):
            engine = engines[number % 2]
            await asyncio.gather(*(engine.Append(session_id=other, messages=[said("hi")]) for other in others))
            assert (await engine.GetSession(session_id=busy)).session.version == 1
        assert not any(task.done() for task in stuck)
    receipts = [answer.receipt for answer in await asyncio.gather(*stuck)]
    assert sorted(receipt.version for receipt in receipts) == list(range(2, 42))


async def test_of_two_servers_on_one_session_neither_loses_nor_doubles(
    engines: tuple[Rpc, Rpc], create: Create
) -> None:
    session_id = await create()
    receipts = await asyncio.gather(
        *(engines[place % 2].Append(session_id=session_id, messages=[said(str(place))]) for place in range(200))
    )
    stored = (await engines[0].ListMessages(session_id=session_id, page_size=1000)).messages
    by_seq = {answer.receipt.first_seq: str(place) for place, answer in enumerate(receipts)}
    assert texts_of(stored) == [by_seq[seq] for seq in range(1, 201)]


class _Crashing:
    """A server on a Postgres of its own, whose backends may be killed."""

    def __init__(self, server: ServerProcess, database: Database, caller: Caller) -> None:
        self.server = server
        self.database = database
        self.rpc = Rpc(caller)

    async def kill_a_batch(self) -> None:
        """End the backend that makes a batch as kill -9 does: all others end with it, and the database recovers."""

        async def killed() -> bool:
            for (pid,) in await self.database.as_superuser(BATCH_IS_MADE):
                os.kill(pid, signal.SIGKILL)
                return True
            return False

        await until_true(killed, "a batch")

    async def until_made(self, session_id: str, request_id: str) -> Any:
        """Append until it is acknowledged."""
        while True:
            try:
                return await self.rpc.Append(session_id=session_id, request_id=request_id, messages=[said(request_id)])
            except aio.AioRpcError as error:
                if error.code() not in {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED}:
                    raise


@pytest.fixture
async def crashing(folder: Path, session_folder: Path, postgres_bin: Path | None) -> AsyncIterator[_Crashing]:
    async with AsyncExitStack() as stack:
        postgres = await stack.enter_async_context(
            await EmbeddedPostgres.start(folder / "postgres", postgres_bin=postgres_bin)
        )
        await migrate(postgres.owner_url)
        await grant_app(postgres.owner_url, postgres.app_url)
        database = Database("lockstitch", postgres.app_url, postgres.owner_url, postgres.superuser_url)
        server = ServerProcess.start(
            session_folder / "keys-only", environment={"LOCKSTITCH_DATABASE_URL": postgres.app_url}
        )
        stack.callback(server.stop)
        caller = await stack.enter_async_context(Caller(server.target, server.token(user="e")))
        yield _Crashing(server, database, caller)


@pytest.mark.timeout(600)  # two recoveries of a database, on whatever machine
async def test_a_backend_that_is_killed_in_the_middle_of_a_batch_makes_each_once(crashing: _Crashing) -> None:
    session_ids = [(await crashing.rpc.CreateSession()).session.session_id for _ in range(12)]
    acknowledged: dict[str, Any] = {}
    is_over = False

    async def write(writer: int) -> None:
        number = 0
        while not is_over:
            request_id = f"{writer}-{number}"
            answer = await crashing.until_made(session_ids[writer % 12], request_id)
            acknowledged[request_id] = answer.receipt
            number += 1

    writing = asyncio.gather(*(write(writer) for writer in range(WRITERS)))
    for _ in range(KILLS):
        enough = len(acknowledged) + WRITERS
        await until(partial(_has, acknowledged, enough), "writes", 60)
        await crashing.kill_a_batch()
    enough = len(acknowledged) + WRITERS
    await until(partial(_has, acknowledged, enough), "writes after the last crash", 60)
    is_over = True
    await writing

    stored: dict[str, int] = {}
    for session_id in session_ids:
        texts = await _all_texts(crashing.rpc, session_id)
        for seq, text in enumerate(texts, 1):
            assert text not in stored, "was made twice"
            stored[text] = seq
    assert {request_id: receipt.first_seq for request_id, receipt in acknowledged.items()} == stored


def _has(acknowledged: Sized, enough: int) -> bool:
    return len(acknowledged) > enough


async def _all_texts(rpc: Rpc, session_id: str) -> list[str]:
    texts: list[str] = []
    token = ""
    while True:
        page = await rpc.ListMessages(session_id=session_id, page_size=1000, page_token=token)
        texts += texts_of(page.messages)
        token = page.next_page_token
        if not token:
            return texts
