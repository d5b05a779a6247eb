"""CONTRACT 13: a draft that nobody writes to its end is stored as it is, as `incomplete`, by the server."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import grpc
import pytest

from factories import ASSISTANT, USER, fresh, said
from lockstitch.v1.message_pb2 import Message
from lockstitch.v1.session_pb2 import SESSION_STATUS_ACTIVE, SESSION_STATUS_EXPIRED
from lockstitch_server.server_process import ServerProcess
from support.callers import Caller
from support.databases import Database
from support.drafts import Drafting, hash_of, rows_left, until_stored
from support.rpc import As, Create, Rpc, refusal
from support.stage import StartServer
from support.waiting import POLL_SECONDS

QUICK = {"LOCKSTITCH_DRAFT_IDLE": "2", "LOCKSTITCH_SWEEP_INTERVAL": "0.2"}


@pytest.fixture(scope="module")
def quick_server(start_server: StartServer, database: Database) -> ServerProcess:
    """A server on a database of its own that gives drafts up soon."""
    return start_server(database, **QUICK)


@pytest.fixture
async def quick(call_as: As, quick_server: ServerProcess) -> Rpc:
    """An engine that calls it."""
    return call_as("engine-1", "engine", to=quick_server)


async def version_of(engine: Rpc, session_id: str) -> int:
    return int((await engine.GetSession(session_id=session_id, show_deleted=True)).session.version)


async def last_message(engine: Rpc, session_id: str) -> Message:
    message: Message = (await engine.ListMessages(session_id=session_id)).messages[-1]
    return message


async def until_version(engine: Rpc, session_id: str, version: int) -> None:
    async with asyncio.timeout(30):
        while await version_of(engine, session_id) < version:
            await asyncio.sleep(POLL_SECONDS)


async def session_of(engine: Rpc, **fields: Any) -> str:
    """Make a session on the server that the engine calls."""
    return str((await engine.CreateSession(user_id="u1", **fields)).session.session_id)


async def test_a_draft_whose_writer_vanished_is_stored_as_incomplete_by_the_server(
    quick: Rpc, database: Database, tenant: str
) -> None:
    session_id = await session_of(quick)
    before = (await quick.GetSession(session_id=session_id)).session.last_activity_time.ToDatetime()
    draft = Drafting(quick.caller, session_id, message={"author": "a model", "message_id": "m-1"})
    await draft.say("half a sen")
    await until_stored(database, tenant, session_id, {draft.draft_id: "half a sen"})
    draft.leave()
    await until_version(quick, session_id, 2)
    message = await last_message(quick, session_id)
    assert [part.text for part in message.parts] == ["half a sen"]
    assert (message.incomplete, message.role, message.author) == (True, ASSISTANT, "a model")
    commit = (await quick.ListCommits(session_id=session_id, after_version=1)).commits[0]
    assert commit.principal.subject == "system"
    assert commit.request_id_hash == hash_of(f"server:draft/{draft.draft_id}")
    assert await rows_left(database, tenant, session_id) == 0
    after = (await quick.GetSession(session_id=session_id)).session
    assert before <= after.last_activity_time.ToDatetime() < after.update_time.ToDatetime()


async def test_a_draft_whose_server_was_killed_is_stored_by_another(
    quick: Rpc, database: Database, tenant: str, start_server: StartServer
) -> None:
    crashing = start_server(database, **QUICK)
    session_id = await session_of(quick)
    caller = Caller(crashing.target, crashing.token(tenant=tenant, user="engine-1", role="engine"))
    async with caller:
        draft = Drafting(caller, session_id)
        await draft.say("half a sen")
        await until_stored(database, tenant, session_id, {draft.draft_id: "half a sen"})
        crashing.kill()
        await until_version(quick, session_id, 2)
        assert (await last_message(quick, session_id)).incomplete


async def test_empty_steps_keep_a_draft_open_and_silence_ends_it(quick: Rpc) -> None:
    """Two drafts begin together: one is kept open while the server gives up the other, and once more."""
    kept_in, left_in = await session_of(quick), await session_of(quick)
    kept, is_enough = Drafting(quick.caller, kept_in), asyncio.Event()
    await kept.say("thinking")

    async def keep() -> None:
        while not is_enough.is_set():
            await kept.say()
            await asyncio.sleep(0.2)  # the pace of whoever waits for a model

    async with asyncio.TaskGroup() as group:
        group.create_task(keep())
        for version in (2, 3):
            await Drafting(quick.caller, left_in).say("thinking")
            await until_version(quick, left_in, version)
        is_enough.set()
    assert await version_of(quick, kept_in) == 1
    assert (await kept.end(" and done")).version == 2
    message = await last_message(quick, kept_in)
    assert (message.parts[0].text, message.incomplete) == ("thinking and done", False)


async def test_a_draft_without_any_text_leaves_nothing(quick: Rpc, database: Database, tenant: str) -> None:
    session_id = await session_of(quick)
    draft = Drafting(quick.caller, session_id)
    await draft.say()
    await until_stored(database, tenant, session_id, {draft.draft_id: ""})
    draft.leave()
    async with asyncio.timeout(30):
        while await rows_left(database, tenant, session_id):
            await asyncio.sleep(POLL_SECONDS)
    assert await version_of(quick, session_id) == 1


async def test_whoever_comes_back_after_a_draft_was_given_up_is_told_to_begin_anew(quick: Rpc) -> None:
    session_id = await session_of(quick)
    for life in range(3):
        draft = Drafting(quick.caller, session_id, draft_id="d-1")
        await draft.say("half")
        refused = await refusal(draft.ended())
        assert refused.what == (grpc.StatusCode.OUT_OF_RANGE, "CURSOR_AHEAD")
        assert refused.metadata["current_offset"] == "0"
        assert await version_of(quick, session_id) == 2 + life
    assert (await Drafting(quick.caller, session_id, draft_id="d-1").end("whole")).version == 5
    found = (await quick.ListMessages(session_id=session_id)).messages
    assert [message.incomplete for message in found] == [True, True, True, False]


async def _takeover(engine: Rpc, session_id: str, _: dict[str, Any]) -> None:
    await engine.StartRun(session_id=session_id, worker="next", on_busy="ON_BUSY_INTERRUPT")


async def _cancel(engine: Rpc, session_id: str, fence: dict[str, Any]) -> None:
    await engine.CancelRun(session_id=session_id, run_id=fence["run_id"], now=True)


async def _close(engine: Rpc, session_id: str, _: dict[str, Any]) -> None:
    await engine.CloseSession(session_id=session_id, force=True)


async def _delete(engine: Rpc, session_id: str, _: dict[str, Any]) -> None:
    await engine.DeleteSession(session_id=session_id, force=True)


ENDS: dict[str, tuple[Callable[[Rpc, str, dict[str, Any]], Awaitable[None]], set[str]]] = {
    "a takeover": (_takeover, {"RUN_FENCED"}),
    "CancelRun, now": (_cancel, {"RUN_FENCED", "RUN_ENDED"}),
    "a close": (_close, {"SESSION_CLOSED"}),
    "a deletion": (_delete, {"SESSION_DELETED"}),
}


@pytest.mark.parametrize("case", [(name, server) for name in ENDS for server in (0, 1)], ids=str)
async def test_what_ends_a_run_or_a_session_stores_what_is_drafted_before_itself(
    engines: tuple[Rpc, Rpc], create: Create, shared_database: Database, tenant: str, case: tuple[str, int]
) -> None:
    engine, session_id, (name, server) = engines[0], await create(), case
    run = (await engine.StartRun(session_id=session_id, worker="w")).run
    fence = {"run_id": run.run_id, "fencing_token": run.fencing_token}
    draft = Drafting(engine.caller, session_id, fence=fence)
    await draft.say("so far")
    await until_stored(shared_database, tenant, session_id, {draft.draft_id: "so far"})
    end, reasons = ENDS[name]
    await end(engines[server], session_id, fence)
    assert (await refusal(draft.ended())).reason in reasons
    if name == "a deletion":
        await engine.UndeleteSession(session_id=session_id)
    lost, own = (await engine.ListCommits(session_id=session_id, after_version=2)).commits[:2]
    assert (lost.version, lost.principal.subject, lost.run_id) == (3, "system", run.run_id)
    assert lost.request_id_hash == hash_of(f"server:draft/{draft.draft_id}")
    assert (lost.messages[0].parts[0].text, lost.messages[0].incomplete) == ("so far", True)
    assert lost.messages[0].run_id == run.run_id
    assert (own.version, own.principal.subject.startswith("engine")) == (4, True)
    assert await rows_left(shared_database, tenant, session_id) == 0


async def test_a_takeover_leaves_the_drafts_of_others(
    engine: Rpc, create: Create, shared_database: Database, tenant: str
) -> None:
    session_id = await create()
    await engine.StartRun(session_id=session_id, worker="w")
    outside = Drafting(engine.caller, session_id, message={"role": USER})
    await outside.say("beside ")
    await until_stored(shared_database, tenant, session_id, {outside.draft_id: "beside "})
    await _takeover(engine, session_id, {})
    assert (await outside.end("the run")).version == 4
    assert (await last_message(engine, session_id)).parts[0].text == "beside the run"


async def test_a_server_that_stops_has_a_draft_go_on_elsewhere(
    engine: Rpc, create: Create, shared_database: Database, tenant: str, start_server: StartServer
) -> None:
    stopping = start_server(shared_database)
    session_id = await create()
    async with Caller(stopping.target, stopping.token(tenant=tenant, user="engine-1", role="engine")) as caller:
        draft = Drafting(caller, session_id)
        await draft.say("begun ")
        await until_stored(shared_database, tenant, session_id, {draft.draft_id: "begun "})
        await draft.say("here ")
        stopped = asyncio.create_task(asyncio.to_thread(stopping.stop))
        refused = await refusal(draft.ended())
        assert refused.what == (grpc.StatusCode.UNAVAILABLE, "DRAINING")
        assert await stopped == 0
    again = Drafting(engine.caller, session_id, draft_id=draft.draft_id)
    assert (await again.end("begun here and ended elsewhere")).version == 2
    assert (await last_message(engine, session_id)).parts[0].text == "begun here and ended elsewhere"


async def test_a_session_does_not_expire_unused_while_its_draft_is_written(quick: Rpc) -> None:
    """Beside it one expires that nobody writes to, and another after that."""
    used = await session_of(quick, idle_ttl={"seconds": 2})
    draft = Drafting(quick.caller, used)
    for _ in range(2):
        unused = await session_of(quick, idle_ttl={"seconds": 2})
        async with asyncio.timeout(30):
            while (await quick.GetSession(session_id=unused)).session.status == SESSION_STATUS_ACTIVE:
                await draft.say("more ")
                assert (await quick.GetSession(session_id=used)).session.status == SESSION_STATUS_ACTIVE
                await asyncio.sleep(0.1)
    await draft.end("done")
    assert (await quick.GetSession(session_id=used)).session.status == SESSION_STATUS_ACTIVE
    async with asyncio.timeout(30):
        while (await quick.GetSession(session_id=used)).session.status != SESSION_STATUS_EXPIRED:
            await asyncio.sleep(0.1)


async def test_a_closed_session_takes_no_draft(engine: Rpc, create: Create) -> None:
    session_id = await create()
    await engine.CloseSession(session_id=session_id)
    assert (await refusal(Drafting(engine.caller, session_id).end("text"))).reason == "SESSION_CLOSED"
    await engine.RestoreSession(session_id=session_id)
    await engine.Append(session_id=session_id, messages=[said(fresh("on"))])
    await engine.DeleteSession(session_id=session_id)
    assert (await refusal(Drafting(engine.caller, session_id).end("text"))).reason == "SESSION_DELETED"
