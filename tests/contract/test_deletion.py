"""CONTRACT 7: deletion can be taken back until the purge, and shows itself to whoever asks for it only."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import grpc
import pytest

from factories import called, fresh, said
from lockstitch.v1.session_pb2 import (
    SESSION_STATUS_ACTIVE,
    SESSION_STATUS_CLOSED,
    SESSION_STATUS_DELETED,
    SESSION_STATUS_EXPIRED,
)
from lockstitch_server import ids
from lockstitch_server.server_process import ServerProcess
from support.databases import Database
from support.every_change import CHANGES, CREATES, EVERY, ready_for
from support.every_read import READS_OF_A_SESSION, RUN_ID
from support.rpc import As, Create, Rpc, as_replayed, outcome, refusal
from support.running import fence_of, started
from support.streams import Reader

DELETED = (grpc.StatusCode.FAILED_PRECONDITION, "SESSION_DELETED")
GONE = (grpc.StatusCode.NOT_FOUND, "SESSION_NOT_FOUND")
DAYS_30 = 30 * 86_400 * 10**9
Due = Callable[[str], Awaitable[None]]


@pytest.fixture
def due(shared_database: Database, tenant: str) -> Due:
    """Let a deleted session's purge_time come, with no sweeper the wiser."""

    async def passed(session_id: str) -> None:
        key = ids.session_key(tenant, session_id)
        await shared_database.as_superuser(
            "update lockstitch.sessions set purge_time = clock_timestamp() where session_key = $1", key
        )

    return passed


async def shown(engine: Rpc, session_id: str) -> Any:
    return (await engine.GetSession(session_id=session_id, show_deleted=True)).session


async def listed(engine: Rpc, **fields: Any) -> list[str]:
    return [session.session_id for session in (await engine.ListSessions(**fields)).sessions]


async def test_a_deleted_session_says_when_it_was_deleted_and_when_it_goes(engine: Rpc, create: Create) -> None:
    session_id = await create(title="t", messages=[said("hi")])
    before = (await engine.GetSession(session_id=session_id)).session
    answer = await engine.DeleteSession(session_id=session_id)
    session = answer.session
    assert (session.status, session.version, answer.receipt.version) == (SESSION_STATUS_DELETED, 2, 2)
    assert session.delete_time == session.update_time == answer.receipt.commit_time
    assert session.purge_time.ToNanoseconds() - session.delete_time.ToNanoseconds() == DAYS_30
    assert session.last_activity_time == before.last_activity_time
    assert await shown(engine, session_id) == session


@pytest.mark.parametrize("read", READS_OF_A_SESSION)
async def test_a_deleted_session_is_found_by_no_read_that_does_not_ask_for_it(
    engine: Rpc, user: Rpc, create: Create, read: str
) -> None:
    session_id = await create(messages=[said("hi")], memory={"goal": "g"})
    await started(engine, session_id, run_id=RUN_ID)
    never = await refusal(READS_OF_A_SESSION[read](engine, fresh("never")))
    await READS_OF_A_SESSION[read](engine, session_id)
    await engine.DeleteSession(session_id=session_id, force=True)
    for caller in (engine, user):
        refused = await refusal(READS_OF_A_SESSION[read](caller, session_id))
        assert (refused.what, refused.details) == (GONE, never.details)


async def test_a_list_shows_deleted_sessions_to_who_asks(engine: Rpc, user: Rpc, call_as: As, create: Create) -> None:
    kept, gone = await create(), await create()
    await engine.DeleteSession(session_id=gone)
    for caller in (engine, user):
        assert await listed(caller) == [kept]
        assert await listed(caller, show_deleted=True) == [gone, kept]
        assert await listed(caller, show_deleted=True, statuses=[SESSION_STATUS_DELETED]) == [gone]
        assert await listed(caller, show_deleted=True, statuses=[SESSION_STATUS_ACTIVE]) == [kept]
        assert await listed(caller, statuses=[SESSION_STATUS_DELETED]) == []
    assert await listed(call_as("u2"), show_deleted=True) == []
    assert (await refusal(call_as("u2").GetSession(session_id=gone, show_deleted=True))).what == GONE


async def test_a_deleted_session_is_read_whole_by_who_asks(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[said("hi"), called("c")], memory={"goal": "g"})
    parts: dict[str, Any] = {"recent_messages": 9, "include_memory": True, "include_open_tool_calls": True}
    before = await engine.GetSession(session_id=session_id, **parts)
    await engine.DeleteSession(session_id=session_id)
    after = await engine.GetSession(session_id=session_id, show_deleted=True, **parts)
    assert list(after.messages) == list(before.messages)
    assert after.memory == before.memory
    assert list(after.open_tool_calls) == list(before.open_tool_calls)
    past = await engine.GetSession(session_id=session_id, show_deleted=True, at_version=1)
    assert past.session == before.session


@pytest.mark.parametrize("name", [*CHANGES, "CloseSession", "RestoreSession"])
async def test_a_deleted_session_takes_no_change(engine: Rpc, create: Create, name: str) -> None:
    session_id = await ready_for(name, engine, create)
    session = (await engine.DeleteSession(session_id=session_id, force=True)).session
    assert (await refusal(engine.send(EVERY[name].on(session_id)))).what == DELETED
    assert await shown(engine, session_id) == session


async def test_create_if_missing_opens_no_deleted_session_and_its_id_stays_taken(engine: Rpc, create: Create) -> None:
    session_id = await create(session_id=fresh("own"))
    await engine.DeleteSession(session_id=session_id)
    appended = engine.Append(session_id=session_id, create_if_missing={}, messages=[said("hi")])
    assert (await refusal(appended)).what == DELETED
    assert (await refusal(engine.CreateSession(session_id=session_id, title="another"))).reason == "SESSION_EXISTS"


async def test_deleting_twice_and_undeleting_twice_change_nothing(engine: Rpc, create: Create) -> None:
    session_id = await create()
    first = await engine.DeleteSession(session_id=session_id)
    again = await engine.DeleteSession(session_id=session_id)
    assert (again.session, again.receipt.version, again.receipt.replayed) == (first.session, 2, False)
    back = await engine.UndeleteSession(session_id=session_id)
    again = await engine.UndeleteSession(session_id=session_id)
    assert (again.session, again.receipt.version, again.receipt.replayed) == (back.session, 3, False)


async def test_retries_of_deletion_and_undeletion_are_told_what_was_done(engine: Rpc, create: Create) -> None:
    session_id = await create()
    deleted = await engine.DeleteSession(session_id=session_id, request_id="d")
    undeleted = await engine.UndeleteSession(session_id=session_id, request_id="u")
    again = await engine.DeleteSession(session_id=session_id, request_id="d")
    assert (again.session, again.receipt) == (deleted.session, as_replayed(deleted.receipt))
    again = await engine.UndeleteSession(session_id=session_id, request_id="u")
    assert (again.session, again.receipt) == (undeleted.session, as_replayed(undeleted.receipt))
    assert (await shown(engine, session_id)).version == 3


async def test_an_earlier_success_is_told_again_of_a_deleted_session(engine: Rpc, create: Create) -> None:
    session_id = await create()
    first = await engine.Append(session_id=session_id, request_id="r", messages=[said("hi")])
    await engine.DeleteSession(session_id=session_id)
    again = await engine.Append(session_id=session_id, request_id="r", messages=[said("hi")])
    assert again.receipt == as_replayed(first.receipt)


@pytest.mark.parametrize("status", [SESSION_STATUS_ACTIVE, SESSION_STATUS_CLOSED, SESSION_STATUS_EXPIRED])
async def test_an_undeleted_session_is_what_it_was_and_its_versions_go_on(
    engine: Rpc, create: Create, shared_database: Database, tenant: str, status: int
) -> None:
    session_id = await create(messages=[said("hi")], labels={"a": "b"}, ttl={"seconds": 1000})
    if status == SESSION_STATUS_CLOSED:
        await engine.CloseSession(session_id=session_id, reason="enough")
    before = (await engine.GetSession(session_id=session_id)).session
    await engine.DeleteSession(session_id=session_id)
    if status == SESSION_STATUS_EXPIRED:
        # Its time passes while it is deleted.
        for table in ("sessions", "session_details"):
            await shared_database.as_superuser(
                f"update lockstitch.{table} set expire_time = clock_timestamp() where session_key = $1",
                ids.session_key(tenant, session_id),
            )
    back = (await engine.UndeleteSession(session_id=session_id)).session
    assert back.version == before.version + 2
    seen = (await engine.GetSession(session_id=session_id)).session
    assert seen.status == status
    assert not seen.HasField("delete_time")
    assert not seen.HasField("purge_time")
    if status != SESSION_STATUS_EXPIRED:
        before.version = back.version
        before.update_time.CopyFrom(back.update_time)
        assert seen == back == before
    if status == SESSION_STATUS_ACTIVE:
        assert (await engine.Append(session_id=session_id, messages=[said("on")])).receipt.version == back.version + 1
    if status == SESSION_STATUS_EXPIRED:
        assert (await refusal(engine.RestoreSession(session_id=session_id))).reason == "SESSION_EXPIRED"
        restored = await engine.RestoreSession(session_id=session_id, ttl={"seconds": 60})
        assert restored.session.status == SESSION_STATUS_ACTIVE


async def test_a_user_deletes_and_undeletes_its_own(user: Rpc, call_as: As, create: Create) -> None:
    session_id = await create()
    for method in ("DeleteSession", "UndeleteSession"):
        assert (await refusal(getattr(call_as("u2"), method)(session_id=session_id))).what == GONE
    assert (await user.DeleteSession(session_id=session_id)).session.status == SESSION_STATUS_DELETED
    assert (await refusal(call_as("u2").UndeleteSession(session_id=session_id))).what == GONE
    assert (await user.UndeleteSession(session_id=session_id)).session.status == SESSION_STATUS_ACTIVE
    assert (await refusal(user.DeleteSession(session_id=session_id, force=True))).reason == "ROLE_NOT_ALLOWED"


@pytest.mark.parametrize("method", ["DeleteSession", "UndeleteSession"])
async def test_a_version_is_compared_where_it_is_given(engine: Rpc, create: Create, method: str) -> None:
    session_id = await create()
    await engine.Append(session_id=session_id, messages=[said("hi")])
    if method == "UndeleteSession":
        await engine.DeleteSession(session_id=session_id)
    version = (await shown(engine, session_id)).version
    refused = await refusal(getattr(engine, method)(session_id=session_id, expected_version=1))
    assert (refused.reason, refused.metadata["current_version"]) == ("VERSION_CONFLICT", str(version))
    answer = await getattr(engine, method)(session_id=session_id, expected_version=version)
    assert answer.receipt.version == version + 1


async def test_an_active_run_keeps_a_session_unless_it_is_forced(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[called("c")])
    run = await started(engine, session_id)
    await engine.UpdateToolCall(session_id=session_id, fence=fence_of(run), call_id="c", status=2)
    refused = await refusal(engine.DeleteSession(session_id=session_id))
    assert (refused.reason, refused.metadata["run_id"]) == ("RUN_ACTIVE", run.run_id)
    deleted = (await engine.DeleteSession(session_id=session_id, force=True)).session
    assert (deleted.version, deleted.active_run_id) == (4, "")
    late = engine.Append(session_id=session_id, fence=fence_of(run), messages=[said("late")])
    assert (await refusal(late)).what == DELETED
    assert (await refusal(engine.RenewRun(session_id=session_id, fence=fence_of(run)))).reason == "RUN_FENCED"
    await engine.UndeleteSession(session_id=session_id)
    (call,) = (await engine.ListToolCalls(session_id=session_id)).tool_calls
    assert (call.status, call.ended_version) == (7, 4)
    late = engine.Append(session_id=session_id, fence=fence_of(run), messages=[said("late")])
    assert (await refusal(late)).reason == "RUN_FENCED"


async def test_a_lapsed_run_keeps_no_session(
    engine: Rpc, create: Create, lapse: Callable[[str], Awaitable[None]]
) -> None:
    session_id = await create()
    run = await started(engine, session_id)
    await lapse(session_id)
    await engine.DeleteSession(session_id=session_id)
    await engine.UndeleteSession(session_id=session_id)
    ended = (await engine.GetRun(session_id=session_id, run_id=run.run_id)).run
    assert (ended.status, ended.ended_version) == (6, 3)


@pytest.mark.parametrize("name", [*(name for name in EVERY if name not in CREATES), *READS_OF_A_SESSION])
async def test_from_its_purge_time_on_nothing_finds_a_session(engine: Rpc, create: Create, due: Due, name: str) -> None:
    session_id = await create(session_id=fresh("own"))
    await engine.DeleteSession(session_id=session_id, request_id="d")
    await due(session_id)
    call = (
        READS_OF_A_SESSION[name](engine, session_id)
        if name in READS_OF_A_SESSION
        else engine.send(EVERY[name].on(session_id))
    )
    assert (await refusal(call)).what == GONE
    assert (await refusal(engine.DeleteSession(session_id=session_id, request_id="d"))).what == GONE
    assert (await refusal(engine.GetSession(session_id=session_id, show_deleted=True))).what == GONE
    assert await listed(engine, show_deleted=True) == []
    assert (await refusal(engine.CreateSession(session_id=session_id))).reason == "SESSION_EXISTS"


async def test_a_stream_gets_the_deletion_and_ends(
    engine: Rpc, create: Create, shared_servers: tuple[ServerProcess, ServerProcess], tenant: str
) -> None:
    session_id = await create(messages=[said("hi")])
    token = shared_servers[0].token(tenant=tenant, user="e", role="engine")
    readers = [
        Reader([server.target], token, session_id, name=f"reader {number}", resume=False)
        for number, server in enumerate(shared_servers)
    ]
    async with readers[0], readers[1]:
        for reader in readers:
            await reader.caught_up()
        await engine.DeleteSession(session_id=session_id)
        for reader in readers:
            record = await reader.ended()
            assert record.versions == [1, 2]
            assert record.commits[-1].session.status == SESSION_STATUS_DELETED
            assert getattr(record.end, "reason", record.end) == "SESSION_NOT_FOUND"
    async with Reader([shared_servers[0].target], token, session_id, resume=False) as late:
        assert getattr((await late.ended()).end, "reason", None) == "SESSION_NOT_FOUND"


async def test_of_deletions_and_appends_at_once_each_append_was_before_or_is_refused(
    engines: tuple[Rpc, Rpc], create: Create
) -> None:
    session_id = await create()
    calls = [
        engines[number % 2].Append(session_id=session_id, messages=[said(str(number))], request_id=str(number))
        for number in range(40)
    ]
    calls.insert(20, engines[0].DeleteSession(session_id=session_id))
    answers = await asyncio.gather(*(outcome(call) for call in calls))
    session = (await engines[0].UndeleteSession(session_id=session_id)).session
    stored = [answer for answer in answers if hasattr(answer, "receipt")]
    assert {answer.what for answer in answers if not hasattr(answer, "receipt")} <= {DELETED}
    assert session.version == 1 + len(stored) + 1
    assert session.message_count == len(stored) - 1
