"""Case A22: lists, reads, health, the sweeper and an idle subscription keep no session alive."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from grpc_health.v1 import health_pb2, health_pb2_grpc

from factories import said
from lockstitch.v1 import session_pb2
from lockstitch.v1.session_pb2 import SESSION_STATUS_ACTIVE, SESSION_STATUS_EXPIRED
from lockstitch_server.server_process import ServerProcess
from support.databases import Database
from support.rpc import As, Rpc
from support.streams import Reader

TTL = 3
MONITOR_SECONDS = 0.5
SWEEP_SECONDS = 0.5
NS = 10**9


@pytest.fixture(scope="module")
def servers(database: Database, start_server: Callable[..., ServerProcess]) -> list[ServerProcess]:
    """Two processes that both sweep."""
    return [start_server(database, LOCKSTITCH_SWEEP_INTERVAL=str(SWEEP_SECONDS)) for _ in range(2)]


class Seen:
    """What every look at the sessions gave, by the database's clock."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.looks: list[tuple[int, int, dict[str, session_pb2.Session]]] = []

    async def clock(self) -> int:
        (row,) = await self._database.as_superuser("select clock_timestamp() as now")
        now = Timestamp()
        now.FromDatetime(row["now"])
        return now.ToNanoseconds()

    async def look(self, operator: Rpc) -> None:
        """Ask as a monitor does."""
        began = await self.clock()
        sessions = {session.session_id: session for session in (await operator.ListSessions(page_size=100)).sessions}
        for session_id in sessions:
            sessions[session_id] = (await operator.GetSession(session_id=session_id)).session
            await operator.GetContext(session_id=session_id)
        health: Any = health_pb2_grpc.HealthStub(operator.caller.channel)
        await health.Check(health_pb2.HealthCheckRequest())
        await operator.GetServerInfo()
        self.looks.append((began, await self.clock(), sessions))


def versions_in(look: tuple[int, int, dict[str, session_pb2.Session]]) -> dict[str, int]:
    return {session_id: session.version for session_id, session in look[2].items()}


@asynccontextmanager
async def monitored(seen: Seen, operator: Rpc) -> AsyncIterator[None]:
    """Look again and again until the context ends."""

    async def again() -> None:
        while True:
            await seen.look(operator)
            await asyncio.sleep(MONITOR_SECONDS)

    task = asyncio.create_task(again())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a22(call_as: As, servers: list[ServerProcess], database: Database, tenant: str) -> None:
    engine, operator = call_as("e", "engine", to=servers[0]), call_as("op", "admin", to=servers[1])
    sessions = [(await engine.CreateSession(user_id="u1", idle_ttl={"seconds": TTL})).session for _ in range(5)]
    watched, used = sessions[0].session_id, sessions[1].session_id
    token = servers[1].token(tenant=tenant, user="u1", role="user")
    seen = Seen(database)
    async with Reader([servers[1].target], token, watched) as reader, monitored(seen, operator):
        await reader.caught_up()
        two_seconds_on = sessions[1].create_time.ToNanoseconds() + 2 * NS
        while await seen.clock() < two_seconds_on:
            await asyncio.sleep(0.05)
        appended = (await engine.Append(session_id=used, messages=[said("in use")])).receipt.commit_time
        # Until two looks saw every session swept.
        swept = {session.session_id: 2 if session.session_id != used else 3 for session in sessions}
        async with asyncio.timeout(30):
            while not all(versions_in(look) == swept for look in seen.looks[-2:]):
                await asyncio.sleep(0.05)

    last_use = {session.session_id: session.last_activity_time.ToNanoseconds() for session in sessions}
    for began, ended, found in seen.looks:
        assert len(found) == len(sessions)
        for session_id, session in found.items():
            used_at = session.last_activity_time.ToNanoseconds()
            assert used_at == last_use[session_id] or (session_id == used and session.last_activity_time == appended)
            assert session.idle_ttl.ToNanoseconds() == TTL * NS
            ends = used_at + TTL * NS
            if session.status == SESSION_STATUS_EXPIRED:
                assert ended >= ends, "it was expired before its time"
            else:
                assert session.status == SESSION_STATUS_ACTIVE
                assert began < ends, "it was not expired from that instant on"
    for session in sessions:
        commits = (await operator.ListCommits(session_id=session.session_id)).commits
        assert [commit.principal.subject for commit in commits if commit.principal.role == 4] == ["system"]
        due = (appended if session.session_id == used else session.last_activity_time).ToNanoseconds() + TTL * NS
        assert commits[-1].commit_time.ToNanoseconds() >= due
    assert reader.commits[-1].session.status == SESSION_STATUS_EXPIRED
