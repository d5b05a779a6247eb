"""Sessions and appends at the store, below the API: what several of them at once become."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID, uuid4

import asyncpg

from factories import fresh
from lockstitch_server import ids
from lockstitch_server.model import (
    CallerRole,
    Change,
    Content,
    Fence,
    LedgerChange,
    LedgerOp,
    MessageRole,
    Method,
    NewMessage,
    NewSession,
    Principal,
    SessionRef,
    ToolCallStatus,
)
from lockstitch_server.store.changing import Statements
from lockstitch_server.store.commit_arguments import Limits
from lockstitch_server.store.group_commit import GroupCommit
from lockstitch_server.store.pool import Pool
from lockstitch_server.store.results import ChangeReport
from lockstitch_server.store.writer import Writer
from support.databases import Database

MESSAGES_MAX = 500
MADE_IN = "select xmin::text, version from lockstitch.commits where session_key = $1 order by version"


@dataclass(frozen=True, slots=True)
class Written:
    """A writer of one tenant."""

    pool: Pool
    writer: Writer
    group: GroupCommit
    tenant: str

    def of(self, tenant: str) -> "Written":
        """The same, of another tenant."""
        return replace(self, tenant=tenant)

    def ungrouped(self) -> "Written":
        """The same, whose appends are each a statement of their own."""
        limits = Limits(MESSAGES_MAX, 2**20)
        writer = Writer(Statements(self.pool), limits, group=None, committed=lambda *_: None)
        return replace(self, writer=writer)

    def change(
        self,
        session_id: str,
        method: Method = Method.APPEND,
        *,
        request: UUID | None = None,
        digest: bytes = b"\x01",
        expected_version: int | None = None,
        fence: Fence | None = None,
    ) -> Change:
        return Change(
            session=SessionRef(
                tenant_id=self.tenant,
                session_id=session_id,
                key=ids.session_key(self.tenant, session_id),
                owner=None,
            ),
            principal=Principal(tenant_id=self.tenant, subject="e", role=CallerRole.ENGINE),
            method=method,
            request_id_hash=request or uuid4(),
            digest=digest,
            traceparent=None,
            expected_version=expected_version,
            fence=fence,
        )

    async def create(self, *messages: NewMessage, ledger: tuple[LedgerChange, ...] = ()) -> str:
        """Make a session and give its id."""
        session_id = fresh("s")
        new = NewSession(user_id="u", agent="")
        content = Content(messages=messages, ledger=ledger)
        report = await self.writer.create_session(self.change(session_id, Method.CREATE_SESSION), new, content)
        assert report.outcome == "committed"
        return session_id

    async def append(
        self,
        session_id: str,
        *messages: NewMessage,
        ledger: tuple[LedgerChange, ...] = (),
        create: NewSession | None = None,
        request: UUID | None = None,
        digest: bytes = b"\x01",
        expected_version: int | None = None,
        fence: Fence | None = None,
    ) -> ChangeReport:
        change = self.change(session_id, request=request, digest=digest, expected_version=expected_version, fence=fence)
        return await self.writer.append(change, Content(messages=messages or (said("hi"),), ledger=ledger), create)


def said(text: str, *, message_id: str | None = None) -> NewMessage:
    return NewMessage(role=MessageRole.USER, body=text.encode(), message_id=message_id)


def asked(call_id: str) -> tuple[NewMessage, LedgerChange]:
    """An assistant's message that makes a call."""
    call = LedgerChange(
        op=LedgerOp.RECORD,
        field="",
        message_index=0,
        part_index=0,
        call_id=call_id,
        name="t",
        arguments_digest=b"d",
        status=ToolCallStatus.PENDING,
    )
    return NewMessage(role=MessageRole.ASSISTANT, body=b"calls"), call


def answered(call_id: str, outcome: bytes) -> tuple[NewMessage, LedgerChange]:
    """A tool's message that answers one."""
    answer = LedgerChange(
        op=LedgerOp.ANSWER,
        field="",
        message_index=0,
        call_id=call_id,
        status=ToolCallStatus.SUCCEEDED,
        outcome_digest=outcome,
    )
    return NewMessage(role=MessageRole.TOOL, body=outcome, call_id=call_id), answer


async def transactions(database: Database, tenant: str, *session_ids: str) -> list[str]:
    """The transaction of each commit of sessions but their first, in the order of versions."""
    rows = []
    for session_id in session_ids:
        rows += (await database.as_superuser(MADE_IN, ids.session_key(tenant, session_id)))[1:]
    return [row["xmin"] for row in rows]


@asynccontextmanager
async def written(
    database: Database, *, connections_max: int = 4, wait: timedelta = timedelta(seconds=5)
) -> AsyncIterator[Written]:
    """Open a pool, and write through it; `wait` is how long an append waits for its turn."""
    pool = Pool(
        database.app_url,
        connections_max=connections_max,
        wait=timedelta(seconds=5),
        statement_timeout=timedelta(seconds=20),
    )
    statements, limits = Statements(pool), Limits(MESSAGES_MAX, 2**20)
    group = GroupCommit(statements, limits, wait=wait, queue_max=1000)
    try:
        writer = Writer(statements, limits, group=group, committed=lambda *_: None)
        yield Written(pool, writer, group, fresh("tenant"))
    finally:
        await group.close()
        await pool.close()


@asynccontextmanager
async def held(database: Database, tenant: str, session_id: str) -> AsyncIterator[None]:
    """Hold a session's row, as a slow transaction does."""
    connection = await asyncpg.connect(database.superuser_url)
    try:
        async with connection.transaction():
            await connection.fetch(
                "select from lockstitch.sessions where session_key = $1 for update", ids.session_key(tenant, session_id)
            )
            yield
    finally:
        await connection.close()
