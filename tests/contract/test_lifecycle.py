"""CONTRACT 7: what a status lets through, and what leaves it."""

from typing import Any

import grpc
import pytest

from factories import called, fresh, patched, said
from lockstitch.v1.session_pb2 import SESSION_STATUS_ACTIVE, SESSION_STATUS_CLOSED
from support.every_change import CHANGES, UNDER_RUN, prepared, ready_for
from support.rpc import As, Create, Rpc, field_refused, refusal

READS = [
    "GetSession",
    "ListMessages",
    "ListCommits",
    "ListToolCalls",
    "GetMemory",
    "ListMemoryVersions",
    "GetContext",
]


async def test_a_closed_session_says_when_and_why_and_is_read_like_any_other(engine: Rpc, create: Create) -> None:
    session_id = await prepared(create)
    before = (await engine.GetSession(session_id=session_id)).session
    closed = (await engine.CloseSession(session_id=session_id, reason="all is said")).session
    assert (closed.status, closed.close_reason, closed.version) == (SESSION_STATUS_CLOSED, "all is said", 2)
    assert closed.close_time == closed.update_time
    assert closed.last_activity_time == before.last_activity_time
    for method in READS:
        await getattr(engine, method)(session_id=session_id)
    assert (await engine.GetSession(session_id=session_id)).session == closed


@pytest.mark.parametrize("name", CHANGES)
async def test_a_closed_session_takes_no_change(engine: Rpc, create: Create, name: str) -> None:
    session_id = await ready_for(name, engine, create)
    closed = (await engine.CloseSession(session_id=session_id, force=True)).session
    refused = await refusal(engine.send(CHANGES[name].on(session_id)))
    assert refused.what == (grpc.StatusCode.FAILED_PRECONDITION, "SESSION_CLOSED")
    assert (await engine.GetSession(session_id=session_id)).session == closed
    await engine.RestoreSession(session_id=session_id)
    if name in UNDER_RUN and "StartRun" not in name:
        assert (await refusal(engine.send(CHANGES[name].on(session_id)))).reason in {"RUN_FENCED", "RUN_ENDED"}
    else:
        await engine.send(CHANGES[name].on(session_id))


@pytest.mark.parametrize("name", CHANGES)
async def test_a_deleted_session_takes_no_change(engine: Rpc, create: Create, name: str) -> None:
    session_id = await ready_for(name, engine, create)
    deleted = (await engine.DeleteSession(session_id=session_id, force=True)).session
    refused = await refusal(engine.send(CHANGES[name].on(session_id)))
    assert refused.what == (grpc.StatusCode.FAILED_PRECONDITION, "SESSION_DELETED")
    assert (await engine.GetSession(session_id=session_id, show_deleted=True)).session == deleted


async def test_create_if_missing_opens_no_closed_session(engine: Rpc, create: Create) -> None:
    session_id = await create()
    await engine.CloseSession(session_id=session_id)
    refused = await refusal(engine.Append(session_id=session_id, create_if_missing={}, messages=[said("hi")]))
    assert refused.reason == "SESSION_CLOSED"


async def test_closing_a_closed_and_restoring_an_active_session_change_nothing(engine: Rpc, create: Create) -> None:
    session_id = await create()
    active = (await engine.GetSession(session_id=session_id)).session
    again = await engine.RestoreSession(session_id=session_id, ttl={"seconds": 60})
    assert (again.session, again.receipt.version, again.receipt.replayed) == (active, 1, False)
    closed = (await engine.CloseSession(session_id=session_id, reason="first")).session
    again = await engine.CloseSession(session_id=session_id, reason="second")
    assert (again.session, again.receipt.version) == (closed, 2)


async def test_a_restored_session_is_as_it_was_but_for_its_version(engine: Rpc, create: Create) -> None:
    session_id = await prepared(create, title="t", labels={"a": "b"}, metadata_json="{}")
    before = (await engine.GetSession(session_id=session_id)).session
    await engine.CloseSession(session_id=session_id, reason="why not")
    restored = (await engine.RestoreSession(session_id=session_id)).session
    assert (restored.status, restored.version) == (SESSION_STATUS_ACTIVE, 3)
    restored.version = before.version
    restored.update_time.CopyFrom(before.update_time)
    assert restored == before


@pytest.mark.parametrize("method", ["CloseSession", "RestoreSession"])
async def test_a_version_is_compared_where_it_is_given(engine: Rpc, create: Create, method: str) -> None:
    session_id = await create()
    await engine.Append(session_id=session_id, messages=[said("hi")])
    if method == "RestoreSession":
        await engine.CloseSession(session_id=session_id)
    version = (await engine.GetSession(session_id=session_id)).session.version
    refused = await refusal(getattr(engine, method)(session_id=session_id, expected_version=1))
    assert (refused.reason, refused.metadata["current_version"]) == ("VERSION_CONFLICT", str(version))
    answer = await getattr(engine, method)(session_id=session_id, expected_version=version)
    assert answer.receipt.version == version + 1


async def test_the_user_closes_and_restores_its_own(user: Rpc, call_as: As, create: Create) -> None:
    session_id = await create()
    assert (await user.CloseSession(session_id=session_id)).session.status == SESSION_STATUS_CLOSED
    assert (await user.RestoreSession(session_id=session_id)).session.status == SESSION_STATUS_ACTIVE
    for method in ("CloseSession", "RestoreSession"):
        refused = await refusal(getattr(call_as("u2"), method)(session_id=session_id))
        assert refused.reason == "SESSION_NOT_FOUND"


@pytest.mark.parametrize("reason", ["x" * 1025, "a\nb", "\x7f", "\x85"])
async def test_a_reason_is_a_line(engine: Rpc, create: Create, reason: str) -> None:
    session_id = await create()
    assert await field_refused(engine.CloseSession(session_id=session_id, reason=reason)) == "reason"
    await engine.CloseSession(session_id=session_id, reason="\U0001f600" * 1024)


async def test_activity_is_what_uses_a_session_and_any_commit_updates_it(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[called("c")])

    async def times() -> tuple[int, int]:
        session = (await engine.GetSession(session_id=session_id)).session
        return session.last_activity_time.ToNanoseconds(), session.update_time.ToNanoseconds()

    async def moved(method: str, **fields: Any) -> tuple[bool, bool]:
        before = await times()
        await getattr(engine, method)(**fields)
        after = await times()
        return after[0] > before[0], after[1] > before[1]

    on = {"session_id": session_id}
    assert await moved("Append", **on, messages=[said("hi")]) == (True, True)
    assert await moved("UpdateMemory", **on, change=patched('{"k":1}')) == (True, True)
    assert await moved("UpdateToolCall", **on, call_id="c", status=2) == (True, True)
    assert await moved("CompleteToolCall", **on, call_id="c", result_json="1") == (True, True)
    assert await moved("UpdateSession", session=on | {"title": "t"}, update_mask={"paths": ["title"]}) == (False, True)
    assert await moved("CloseSession", **on) == (False, True)
    assert await moved("RestoreSession", **on) == (False, True)
    for method in READS:
        assert await moved(method, **on) == (False, False)
    assert fresh()
