from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from lockstitch import Client, InvalidField, replace, user, working_memory
from lockstitch.types import Approval, CommitReceipt, Session, SessionStatus, ToolCallStatus, WorkingMemory
from lockstitch.v1 import session_service_pb2 as wire


def appended(version: int, memory_version: int = 0, **more: Any) -> wire.AppendResponse:
    return wire.AppendResponse(receipt=CommitReceipt(version=version, memory_version=memory_version, **more))


def read(version: int) -> wire.GetSessionResponse:
    return wire.GetSessionResponse(session=Session(session_id="s", version=version))


async def test_a_created_session_has_been_seen_whole(scripted: Any) -> None:
    session = Session(session_id="sess_1", version=1, memory_version=1, title="T")
    receipt = CommitReceipt(version=1, memory_version=1)
    scripted.will(wire.CreateSessionResponse(session=session, receipt=receipt))
    async with Client(scripted.target, token="t") as client:
        made = await client.create(
            user_id="u1",
            title="T",
            labels={"a": "b"},
            metadata={"k": 1},
            memory=working_memory(goal="g"),
            messages=[user("hi")],
            ttl=timedelta(days=1),
            idle_ttl=timedelta(minutes=5),
        )
    assert (made.session_id, made.version, made.memory_version) == ("sess_1", 1, 1)
    assert (made.info, made.receipt) == (session, receipt)
    request = scripted.requests[0]
    assert (request.user_id, request.title, dict(request.labels)) == ("u1", "T", {"a": "b"})
    assert (request.metadata_json, request.memory.goal, len(request.messages)) == ('{"k":1}', "g", 1)
    assert (request.ttl.ToTimedelta(), request.idle_ttl.ToTimedelta()) == (timedelta(days=1), timedelta(minutes=5))


async def test_nothing_is_compared_unless_asked_for(scripted: Any) -> None:
    async with Client(scripted.target, token="t") as client:
        session = client.session("s")
        await session.append(messages=[user("hi")])
        await session.append(messages=[user("hi")], expected_version=session.version)
    unguarded, guarded = scripted.requests
    assert not unguarded.HasField("expected_version")
    assert guarded.HasField("expected_version")
    assert guarded.expected_version == 0


async def test_changes_that_follow_on_what_was_seen_are_seen(scripted: Any) -> None:
    scripted.will(read(3), appended(4), appended(5))
    async with Client(scripted.target, token="t") as client:
        session = await client.get("s")
        assert session.version == 3
        await session.append(messages=[user("a")])
        await session.append(messages=[user("b")], expected_version=session.version)
    assert session.version == 5


async def test_a_change_behind_somebody_elses_leaves_the_version_where_it_was(scripted: Any) -> None:
    # Somebody else made 4. Taking 5 as seen would let a guarded change step over it.
    scripted.will(read(3), appended(5), read(5), appended(6))
    async with Client(scripted.target, token="t") as client:
        session = await client.get("s")
        await session.append(messages=[user("a")])
        assert session.version == 3
        assert session.receipt is not None
        assert session.receipt.version == 5
        await session.get()
        assert session.version == 5
        await session.append(messages=[user("b")])
    assert session.version == 6


async def test_a_guard_of_ones_own_counts_as_seen(scripted: Any) -> None:
    scripted.will(appended(8))
    async with Client(scripted.target, token="t") as client:
        session = client.session("s")
        await session.append(messages=[user("a")], expected_version=7)
    assert session.version == 8


async def test_a_replayed_receipt_takes_nothing_back(scripted: Any) -> None:
    scripted.will(read(9), appended(4, replayed=True))
    async with Client(scripted.target, token="t") as client:
        session = await client.get("s")
        await session.append(messages=[user("a")], request_id="old", expected_version=3)
    assert session.version == 9


async def test_memory_that_was_not_read_is_not_known(scripted: Any) -> None:
    # A handle at version 3 whose append lands at 5: commit 4 may have changed memory.
    changed = CommitReceipt(version=6, memory_version=6)
    scripted.will(
        wire.GetContextResponse(session=Session(version=3), memory=WorkingMemory(version=2)),
        appended(5, memory_version=4),
        wire.GetMemoryResponse(memory=WorkingMemory(version=4)),
        wire.UpdateMemoryResponse(memory=WorkingMemory(version=6), receipt=changed),
        appended(9, memory_version=9),
    )
    async with Client(scripted.target, token="t") as client:
        session = client.session("s")
        await session.context()
        assert session.memory_version == 2
        await session.append(messages=[user("a")])
        assert session.memory_version == 2
        await session.memory()
        assert session.memory_version == 4
        await session.update_memory(change=replace(WorkingMemory()), expected_memory_version=session.memory_version)
        assert session.memory_version == 6
        await session.append(memory_change={"a": 1}, expected_memory_version=session.memory_version)
        assert session.memory_version == 9
    assert session.version == 3


async def test_calls_are_named_by_either_id(scripted: Any) -> None:
    running = ToolCallStatus.TOOL_CALL_STATUS_RUNNING
    async with Client(scripted.target, token="t") as client:
        session = client.session("s")
        await session.update_tool_call(call_id="c1", status=running)
        await session.update_tool_call(tool_call_id="t1", approval=Approval(granted=True, note="go"))
        await session.complete_tool_call(call_id="c1", result={"ok": True})
        await session.complete_tool_call(tool_call_id="t1", error="refused")
    first, second, third, fourth = scripted.requests
    assert (first.call_id, first.status) == ("c1", running)
    assert (second.tool_call_id, second.approval.granted) == ("t1", True)
    assert (third.call_id, third.result_json) == ("c1", '{"ok":true}')
    assert (fourth.tool_call_id, fourth.error, fourth.result_json) == ("t1", "refused", "")


async def test_close_and_restore_keep_what_the_session_became(scripted: Any) -> None:
    closed, active = SessionStatus.SESSION_STATUS_CLOSED, SessionStatus.SESSION_STATUS_ACTIVE
    scripted.will(
        read(1),
        wire.CloseSessionResponse(session=Session(version=2, status=closed), receipt=CommitReceipt(version=2)),
        wire.RestoreSessionResponse(session=Session(version=3, status=active), receipt=CommitReceipt(version=3)),
    )
    async with Client(scripted.target, token="t") as client:
        session = await client.get("s")
        await session.close(reason="done")
        assert session.info is not None
        assert (session.info.status, session.version) == (closed, 2)
        await session.restore(expire_time=datetime(2100, 1, 1, tzinfo=UTC))
        assert (session.info.status, session.version) == (active, 3)
    assert scripted.requests[1].reason == "done"
    assert scripted.requests[2].expire_time.ToDatetime(UTC) == datetime(2100, 1, 1, tzinfo=UTC)


async def test_pages_are_followed_to_the_last_token(scripted: Any) -> None:
    one, two = Session(session_id="a"), Session(session_id="b")
    scripted.will(
        wire.ListSessionsResponse(sessions=[one], next_page_token="p2"),
        wire.ListSessionsResponse(next_page_token="p3"),
        wire.ListSessionsResponse(sessions=[two]),
    )
    async with Client(scripted.target, token="t") as client:
        listed = [session.session_id async for session in client.list(user_id="u1", labels={"k": "v"}, page_size=1)]
    assert listed == ["a", "b"]
    assert [request.page_token for request in scripted.requests] == ["", "p2", "p3"]
    assert {(request.user_id, request.labels["k"], request.page_size) for request in scripted.requests} == {
        ("u1", "v", 1)
    }


@pytest.mark.parametrize("token", ["two\nlines", "smörgås"])
async def test_a_token_that_no_header_can_carry_is_refused(scripted: Any, token: str) -> None:
    async with Client(scripted.target, token=lambda: token) as client:
        with pytest.raises(InvalidField, match="token"):
            await client.get("s")
    assert scripted.requests == []


async def test_an_update_sends_only_what_is_named(scripted: Any) -> None:
    async with Client(scripted.target, token="t") as client:
        session = client.session("s")
        await session.update(title="T", expire_time=None)
        await session.update(metadata=None, labels={}, idle_ttl=timedelta(hours=1), expected_version=3)
    first, second = scripted.requests
    assert (list(first.update_mask.paths), first.session) == (
        ["title", "expire_time"],
        Session(session_id="s", title="T"),
    )
    assert list(second.update_mask.paths) == ["labels", "metadata_json", "idle_ttl"]
    assert second.session.idle_ttl.ToTimedelta() == timedelta(hours=1)


async def test_messages_are_taken_back_by_number_or_from_a_seq_on(scripted: Any) -> None:
    async with Client(scripted.target, token="t") as client:
        session = client.session("s")
        await session.remove(last=2)
        await session.remove(from_seq=7)
        with pytest.raises(InvalidField, match="together"):
            await session.remove(last=2, from_seq=7)
    assert [(one.WhichOneof("which"), one.last, one.from_seq) for one in scripted.requests] == [
        ("last", 2, 0),
        ("from_seq", 0, 7),
    ]
