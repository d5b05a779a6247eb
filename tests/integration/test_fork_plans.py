"""Forks and lists of forks read what they copy and give, by index, also where they were planned on next to nothing."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import partial
from uuid import uuid4

import pytest

from factories import answered, called, fresh, said
from lockstitch_server import ids
from lockstitch_server.model import CallerRole, Change, Method, NewFork, Principal, SessionRef
from lockstitch_server.server_process import ServerProcess
from lockstitch_server.store.changing import Statements
from lockstitch_server.store.commit_arguments import Limits
from lockstitch_server.store.results import ChangeReport
from lockstitch_server.store.writer import Writer
from support.callers import Caller
from support.databases import Database
from support.histories import paged
from support.measured import UNWATCHED, Measured, executed, measured
from support.rpc import Rpc

TENANT = "t1"
MESSAGES = 4000
FORKS, IN_FLIGHT = 2000, 16
PLANNINGS = 8
"""A plan is kept after five executions."""

BY_KEY = {
    "sessions_pk",
    "session_details_pk",
    "session_details_history_pk",
    "session_labels_pk",
    "commits_pk",
    "commits_request_id_once",
    "messages_pk",
    "messages_history_pk",
    "memory_pk",
    "memory_history_pk",
    "tool_calls_pk",
    "tool_calls_by_call_id",
    "tool_calls_history_pk",
    "purged_sessions_pk",
    "runs_by_token",
    "sweeps_pk",
    # Here hardly any session is ever due, and of an empty table either index costs the same.
    "sweeps_by_time",
}


def ref(session_id: str) -> SessionRef:
    return SessionRef(tenant_id=TENANT, session_id=session_id, key=ids.session_key(TENANT, session_id), owner=None)


@dataclass(frozen=True, slots=True)
class Forker:
    """The server's statements on one connection."""

    counted: Measured
    small: str
    large: str

    async def fork(self, source: str, at_version: int | None = None) -> ChangeReport:
        change = Change(
            session=ref(fresh("fork")),
            principal=Principal(tenant_id=TENANT, subject="e", role=CallerRole.ENGINE),
            method=Method.FORK_SESSION,
            request_id_hash=uuid4(),
            digest=b"\x01",
            traceparent=None,
        )
        statements = Statements(self.counted.pool)
        writer = Writer(statements, Limits(100_000, 2**20), group=None, committed=lambda *_: None)
        new = NewFork(source=ref(source), at_version=at_version, title="", labels={})
        return await writer.fork_session(change, new)

    async def erasure(self, source: str, version: int) -> list[str]:
        rows = await self.counted.fetch("forks_of_erasure", TENANT, ref(source).key, version)
        forks: list[str] = rows[0]["forks"]
        return forks


@pytest.fixture(scope="module")
async def forker(database: Database, start_server: Callable[[Database], ServerProcess]) -> AsyncIterator[Forker]:
    """A small session, a large one, and thousands of forks of the small one, planned before there were any."""
    await executed(database, UNWATCHED)
    server = start_server(database)
    async with measured(database) as counted:
        made = Forker(counted, fresh("small"), fresh("large"))
        async with Caller(server.target, server.token(tenant=TENANT, user="e", role="engine")) as caller:
            await _fill(made, Rpc(caller))
        # What it read is counted when it leaves.
        assert server.stop() == 0
        await counted.alone()
        yield made


async def _fill(made: Forker, rpc: Rpc) -> None:
    await rpc.CreateSession(session_id=made.small, user_id="u", messages=[said("a"), called("c1")])
    await rpc.Append(session_id=made.small, messages=[answered("c1")])
    for _ in range(PLANNINGS):
        for at_version in (None, 1, 2):
            await made.fork(made.small, at_version)
        await made.erasure(made.small, 2)
    await rpc.CreateSession(session_id=made.large, user_id="u")
    for number in range(MESSAGES // 80):
        names = [f"{number}-{turn}" for turn in range(20)]
        await rpc.Append(session_id=made.large, messages=[m for name in names for m in (said("x" * 300), called(name))])
        await rpc.Append(
            session_id=made.large, messages=[m for name in names for m in (answered(name), said("x" * 300))]
        )
    for _ in range(FORKS // IN_FLIGHT):
        labels = [{"n": str(place % 4)} for place in range(IN_FLIGHT)]
        await asyncio.gather(*(rpc.ForkSession(session_id=made.small, labels=one) for one in labels))


async def test_a_fork_reads_by_key_what_it_copies(forker: Forker) -> None:
    versions = 1 + 2 * (MESSAGES // 80)
    for at_version in (None, versions // 4 * 2 + 1):
        work = await forker.counted.work(partial(forker.fork, forker.large, at_version))
        assert not work.whole, work
        assert set(work.scans) <= BY_KEY, work
        # A few pages a message, those written among them.
        assert work.pages < 30 * MESSAGES, work
    assert (await forker.fork(forker.large, versions)).outcome == "committed"
    assert (await forker.fork(forker.large, versions - 1)).outcome == "fork_splits"


async def test_a_fork_of_a_small_session_reads_little_beside_a_large_one(forker: Forker) -> None:
    for at_version in (None, 1, 2):
        work = await forker.counted.work(partial(forker.fork, forker.small, at_version))
        assert not work.whole, work
        assert work.pages < 200, work


async def test_an_erasure_finds_forks_by_their_source(forker: Forker) -> None:
    work = await forker.counted.work(lambda: forker.erasure(forker.large, 3))
    assert not work.whole, work
    assert set(work.scans) <= {"sessions_by_origin", "commits_pk", "commits_request_id_once"}, work
    assert work.pages < 30, work


async def test_thousands_of_forks_are_listed_by_their_source(
    forker: Forker, database: Database, start_server: Callable[[Database], ServerProcess]
) -> None:
    server = start_server(database)
    async with Caller(server.target, server.token(tenant=TENANT, user="e", role="engine")) as caller:
        await _listed(forker, Rpc(caller))


async def _listed(forker: Forker, rpc: Rpc) -> None:
    everything = await paged(rpc.ListSessions, "sessions", page_size=1000)
    for labels in ({}, {"n": "3"}):
        listed = await paged(rpc.ListSessions, "sessions", page_size=300, forked_from=forker.small, labels=labels)
        expected = [
            one.session_id
            for one in everything
            if one.forked_from.session_id == forker.small and labels.items() <= dict(one.labels).items()
        ]
        assert len(expected) >= FORKS // 4
        assert [one.session_id for one in listed] == expected
