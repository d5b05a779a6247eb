"""Hot statements read an index and few pages, also where they were planned while the tables were empty."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from uuid import uuid4

import asyncpg
import pytest

from factories import answered, called, fresh, said
from lockstitch_server import ids
from lockstitch_server.embedded import EmbeddedPostgres
from lockstitch_server.model import (
    CallerRole,
    Change,
    Content,
    Fence,
    LedgerChange,
    LedgerOp,
    MessageRole,
    MessageUpdate,
    Method,
    NewMessage,
    NewRun,
    OnBusy,
    Principal,
    Removal,
    RunEnd,
    RunStatus,
    SessionRef,
    ToolCallStatus,
)
from lockstitch_server.server_process import ServerProcess
from lockstitch_server.store import queries
from lockstitch_server.store.changing import Statements
from lockstitch_server.store.commit_arguments import Limits
from lockstitch_server.store.log import Log
from lockstitch_server.store.reader import MessageFilter, Reader, SessionParts, ToolCallFilter
from lockstitch_server.store.reading import Reading
from lockstitch_server.store.runs import FINISH, RunFilter, RunStore
from lockstitch_server.store.writer import Writer
from support.callers import Caller
from support.databases import TEMPLATE, Database, made_database
from support.measured import UNWATCHED, Measured, executed, measured
from support.rpc import Rpc

TENANT = "t1"
MESSAGES, CALLS = 5000, 1000
BYTES_MAX = 3 * 2**20
FIRST_CALL_ID = "c1"
PLANNINGS = 8
"""A plan is kept after five executions."""

numbers = count(1)


def ref(session_id: str) -> SessionRef:
    return SessionRef(tenant_id=TENANT, session_id=session_id, key=ids.session_key(TENANT, session_id), owner=None)


@dataclass(frozen=True, slots=True)
class Store:
    """The server's statements on one connection."""

    counted: Measured
    writer: Writer
    runs: RunStore
    reader: Reader
    log: Log

    def _change(self, session_id: str, method: Method, fence: Fence | None = None) -> Change:
        return Change(
            session=ref(session_id),
            principal=Principal(tenant_id=TENANT, subject="e", role=CallerRole.ENGINE),
            method=method,
            request_id_hash=uuid4(),
            digest=b"\x01",
            traceparent=None,
            fence=fence,
        )

    async def append(self, session_id: str, fence: Fence | None = None) -> object:
        content = Content(messages=(NewMessage(role=MessageRole.USER, body=b"x" * 300),))
        report = await self.writer.append(self._change(session_id, Method.APPEND, fence), content)
        assert report.outcome == "committed", report
        return report

    async def start(self, session_id: str) -> Fence:
        """Start a run, in place of the one before."""
        new = NewRun(
            run_id=fresh("run"), worker="", lease=timedelta(minutes=1), on_busy=OnBusy.INTERRUPT, labels={"k": "v"}
        )
        report = await self.runs.start(self._change(session_id, Method.START_RUN), new)
        assert report.run is not None, report
        return Fence(run_id=new.run_id, fencing_token=report.run.fencing_token)

    async def finish(self, session_id: str, fence: Fence) -> object:
        end = RunEnd(status=RunStatus.SUCCEEDED, error=b"")
        report = await self.runs.change(self._change(session_id, Method.FINISH_RUN, fence), FINISH, fence.run_id, end)
        assert report.outcome == "committed", report
        return report

    async def run(self, session_id: str) -> object:
        """Live through a run: start it in place of another, renew it, write under it, end it."""
        await self.start(session_id)
        fence = await self.start(session_id)
        outcome, _ = await self.runs.renew(ref(session_id), fence, timedelta(minutes=1))
        assert outcome == "renewed"
        await self.append(session_id, fence)
        return await self.finish(session_id, fence)

    async def list_runs(self, session_id: str) -> object:
        shown = RunFilter(run_id=None, statuses=None, before_token=2**40)
        return await self.runs.list(ref(session_id), shown, limit=51)

    async def record(self, session_id: str, call_id: str) -> object:
        call = LedgerChange(
            op=LedgerOp.RECORD,
            field="",
            call_id=call_id,
            name="t",
            arguments_digest=b"d",
            arguments=b"{}",
            status=ToolCallStatus.PENDING,
        )
        return await self.writer.append(self._change(session_id, Method.APPEND), Content(ledger=(call,)))

    async def answer(self, session_id: str) -> object:
        """Store the TOOL message that answers a call by the provider's id."""
        call_id = f"open-{next(numbers)}"
        await self.record(session_id, call_id)
        return await self.answer_to(session_id, call_id)

    async def answer_to(self, session_id: str, call_id: str) -> object:
        message = NewMessage(role=MessageRole.TOOL, body=b"x" * 300, call_id=call_id)
        answer = LedgerChange(
            op=LedgerOp.ANSWER,
            field="",
            message_index=0,
            call_id=call_id,
            status=ToolCallStatus.SUCCEEDED,
            outcome_digest=b"o",
        )
        content = Content(messages=(message,), ledger=(answer,))
        report = await self.writer.append(self._change(session_id, Method.APPEND), content)
        assert report.outcome == "committed"
        return report

    async def pop(self, session_id: str) -> object:
        """Store a message and take it back."""
        await self.append(session_id)
        removal = Removal(last=1, from_seq=None, erase=False)
        change = self._change(session_id, Method.REMOVE_MESSAGES)
        return await self.writer.remove_messages(change, removal, Content(), BYTES_MAX)

    async def rewrite(self, session_id: str) -> object:
        """Change the result of the first call."""
        update = MessageUpdate(
            seq=3,
            message_id=None,
            message=NewMessage(role=MessageRole.TOOL, body=uuid4().bytes, call_id=FIRST_CALL_ID),
            tool_calls=(
                LedgerChange(op=LedgerOp.ANSWER, field="", status=ToolCallStatus.SUCCEEDED, outcome_digest=b"o"),
            ),
            erase=False,
        )
        report = await self.writer.update_message(self._change(session_id, Method.UPDATE_MESSAGE), update)
        assert report.outcome == "committed", report
        return report

    async def get(self, session_id: str) -> object:
        asked = SessionParts(messages=50, memory=True, open_calls=1001, bytes_max=BYTES_MAX)
        return await self.reader.get_session(ref(session_id), asked)

    async def context(self, session_id: str) -> object:
        asked = SessionParts(messages=50, memory=True, open_calls=1000, ended_calls=20, bytes_max=BYTES_MAX)
        return await self.reader.get_session(ref(session_id), asked)

    async def past(self, session_id: str) -> object:
        asked = SessionParts(messages=50, memory=True, open_calls=1001, bytes_max=BYTES_MAX)
        return await self.reader.get_session_at(ref(session_id), 2, asked)

    async def messages(self, session_id: str, *, descending: bool = False, show_removed: bool = False) -> object:
        shown = MessageFilter(
            after_seq=2 if descending else 40,
            before_seq=3000,
            event_after=None,
            event_before=None,
            descending=descending,
            roles=None,
            run_id=None,
            show_removed=show_removed,
        )
        return await self.reader.list_messages(ref(session_id), shown, limit=51, scan_max=51, bytes_max=BYTES_MAX)

    async def tool_calls(self, session_id: str) -> object:
        shown = ToolCallFilter(statuses=None, name=None, run_id=None, arguments_digest=None, after=(0, -1))
        return await self.reader.list_tool_calls(ref(session_id), shown, limit=51, bytes_max=BYTES_MAX)

    async def commits(self, session_id: str) -> object:
        return await self.log.list_commits(
            ref(session_id), after_version=0, before_version=2**40, descending=True, limit=3, bytes_max=BYTES_MAX
        )


Hot = Callable[[Store, str], Awaitable[object]]

SESSION = {"sessions_pk", "session_details_pk", "session_details_history_pk"}
MESSAGE = {"messages_pk", "messages_history_pk"}
MEMORY = {"memory_pk", "memory_history_pk"}
CALL = {"tool_calls_pk", "tool_calls_by_call_id", "tool_calls_open", "tool_calls_history_pk"}
REQUEST = {"commits_request_id_once"}
LOG = {"commits_pk", *REQUEST}
RUN = {"runs_pk", "runs_by_token", "run_leases_pk"}

HOT: dict[str, tuple[Hot, set[str], int]] = {
    "append": (Store.append, SESSION | REQUEST, 30),
    "answer": (Store.answer, SESSION | REQUEST | CALL, 120),
    "pop": (Store.pop, SESSION | LOG | MESSAGE | CALL, 250),
    "rewrite": (Store.rewrite, SESSION | REQUEST | MESSAGE | CALL, 200),
    "run": (Store.run, SESSION | REQUEST | RUN | {"sweeps_pk", "drafts_pk", "tool_calls_open"}, 250),
    "runs": (Store.list_runs, SESSION | RUN, 60),
    "get": (Store.get, SESSION | MESSAGE | MEMORY | CALL, 120),
    "context": (Store.context, SESSION | MESSAGE | MEMORY | CALL | RUN, 500),
    "messages": (Store.messages, SESSION | {"messages_pk"}, 300),
    "messages, newest first": (
        lambda store, session_id: store.messages(session_id, descending=True),
        SESSION | {"messages_pk"},
        300,
    ),
    "messages, removed ones too": (
        lambda store, session_id: store.messages(session_id, show_removed=True),
        SESSION | MESSAGE,
        500,
    ),
    "tool calls": (Store.tool_calls, SESSION | MESSAGE | CALL, 1000),
    "commits": (Store.commits, SESSION | LOG | MESSAGE | CALL | RUN, 1500),
    "past": (Store.past, SESSION | LOG | MESSAGE | MEMORY | CALL | RUN, 500),
}
"""Each with the indexes that it may read and the most pages, of thousands."""


@pytest.fixture(scope="module", params=["never counted", "counted while small"])
async def store(
    request: pytest.FixtureRequest, postgres: EmbeddedPostgres, start_server: Callable[[Database], ServerProcess]
) -> AsyncIterator[tuple[Store, str, str]]:
    """Statements that were planned on next to nothing, a small session and one of thousands of messages and calls."""
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(made_database(postgres, TEMPLATE))
        await executed(database, UNWATCHED)
        server = start_server(database)
        yield await stack.enter_async_context(filled(database, server, counted_first="small" in request.param))


@asynccontextmanager
async def filled(
    database: Database, server: ServerProcess, *, counted_first: bool
) -> AsyncIterator[tuple[Store, str, str]]:
    small, large = fresh("small"), fresh("large")
    async with measured(database) as counted:
        statements, reading = Statements(counted.pool), Reading(counted.pool)
        made = Store(
            counted,
            Writer(statements, Limits(100_000, 2**20), group=None, committed=lambda *_: None),
            RunStore(statements, reading, run_grace=timedelta(minutes=10), committed=lambda *_: None),
            Reader(reading),
            Log(reading),
        )
        async with Caller(server.target, server.token(tenant=TENANT, user="e", role="engine")) as caller:
            rpc = Rpc(caller)
            few = [said("a"), called("c1"), answered("c1")]
            await rpc.CreateSession(session_id=small, messages=few, memory={"goal": "g"})
            for number in range(2 * PLANNINGS):
                if number == PLANNINGS and counted_first:
                    # As the database does by itself, of tables with fifty rows: what was planned before is forgotten.
                    await executed(database, "analyze lockstitch.commits, lockstitch.messages")
                for call, _, _ in HOT.values():
                    await call(made, small)
            await rpc.CreateSession(session_id=large, messages=few, memory={"goal": "g"})
            turn = [*[said("x" * 300)] * 3, called("c", name="t"), answered("c")]
            for number in range(MESSAGES // 100):
                await rpc.Append(session_id=large, messages=turn * 20)
                if number % 5 == 0:
                    await rpc.CreateSession(session_id=fresh(), messages=turn * 20)
        # It reads, too, and must not be counted.
        assert server.stop() == 0
        await counted.alone()
        yield made, small, large


async def test_every_query_prepares_on_the_migrated_schema(database: Database) -> None:
    connection = await asyncpg.connect(database.app_url, server_settings={"role": "lockstitch_app"})
    try:
        for name, text in queries.load().items():
            prepared = await connection.prepare(text)
            assert prepared.get_attributes(), name
            assert len(prepared.get_parameters()) == len(set(re.findall(r"\$\d+", text))), name
    finally:
        await connection.close()


@pytest.mark.parametrize("name", HOT)
async def test_a_plan_made_on_empty_tables_serves_full_ones(store: tuple[Store, str, str], name: str) -> None:
    made, _, large = store
    call, indexes, most = HOT[name]
    await call(made, large)
    work = await made.counted.work(lambda: call(made, large))
    assert not work.whole, work
    assert set(work.scans) <= indexes, work
    assert 0 < work.pages <= most, work


@pytest.mark.parametrize("name", ["append", "answer"])
async def test_a_change_of_a_large_session_reads_no_more_than_of_a_small_one(
    store: tuple[Store, str, str], name: str
) -> None:
    made, small, large = store
    call, _, _ = HOT[name]

    async def pages(session_id: str) -> int:
        # Now and then an index grows a page.
        return min([(await made.counted.work(lambda: call(made, session_id))).pages for _ in range(3)])

    # Indexes may be a level deeper.
    assert await pages(large) <= 1.5 * await pages(small)
