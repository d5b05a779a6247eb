"""Messages changed in their place."""

from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from factories import (
    ASSISTANT,
    CANCELLED,
    FAILED,
    SUCCEEDED,
    TOOL,
    USER,
    answered,
    called,
    fresh,
    said,
    texts_of,
)
from lockstitch.v1.message_pb2 import ROLE_SYSTEM, Message, Original, Part, ToolResultPart, Usage
from lockstitch.v1.tool_call_pb2 import ToolCall
from support.histories import paged, whole
from support.rpc import Create, Rpc, as_replayed, field_refused, refusal


async def message(engine: Rpc, session_id: str, seq: int) -> Message:
    (found,) = (await engine.ListMessages(session_id=session_id, after_seq=seq - 1, before_seq=seq + 1)).messages
    assert isinstance(found, Message)
    return found


async def only_call(engine: Rpc, session_id: str) -> ToolCall:
    (call,) = (await engine.ListToolCalls(session_id=session_id)).tool_calls
    assert isinstance(call, ToolCall)
    return call


@pytest.mark.parametrize("own_id", ["mine", ""])
async def test_everything_but_its_place_may_change(engine: Rpc, create: Create, own_id: str) -> None:
    first = said("a", message_id=own_id, author="ann", metadata_json="[1]", usage=Usage(model="m"), incomplete=True)
    session_id = await create(messages=[said("before"), first, said("after")])
    old = await message(engine, session_id, 2)
    new = Message(
        role=USER,
        author="bob",
        parts=[Part(json='{"z":1.0,"a":1e3}'), Part(text="")],
        metadata_json="{}",
        original=Original(format="f", data=b"\x00"),
        event_time=Timestamp(seconds=7),
    )
    told = await engine.UpdateMessage(session_id=session_id, message_id=old.message_id, message=new)
    expected = Message.FromString(new.SerializeToString())
    expected.message_id, expected.seq, expected.version = old.message_id, 2, 2
    expected.create_time.CopyFrom(old.create_time)
    assert told.message == expected == await message(engine, session_id, 2)
    assert (told.receipt.version, told.receipt.first_seq, told.receipt.last_seq) == (2, 0, 3)
    assert list((await whole(engine, session_id, 1)).messages)[1] == old
    assert texts_of((await whole(engine, session_id)).messages) == ["before", "", "after"]
    by_event = await engine.ListMessages(session_id=session_id, event_after=Timestamp(seconds=7))
    assert [found.seq for found in by_event.messages] == [2]


async def test_its_own_id_may_be_given_and_no_other(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[said("a", message_id="mine")])
    update = {"session_id": session_id, "message_id": "mine"}
    named = await field_refused(engine.UpdateMessage(message=said("b", message_id="other"), **update))
    assert named == "message.message_id"
    told = await engine.UpdateMessage(message=said("b", message_id="mine"), **update)
    assert told.message.message_id == "mine"


async def test_an_equal_message_changes_nothing(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[said("a", message_id="mine")])
    told = await engine.UpdateMessage(session_id=session_id, message_id="mine", message=said("a"), request_id="same")
    assert (told.receipt.version, told.message.version, texts_of([told.message])) == (1, 1, ["a"])
    # It left no record: the id is free for another request.
    told = await engine.UpdateMessage(session_id=session_id, message_id="mine", message=said("b"), request_id="same")
    assert told.receipt.version == 2


@pytest.mark.parametrize("of", ["another session", "nobody", "a removed message", "the server, for one with its own"])
async def test_an_id_that_finds_no_live_message_of_the_session(engine: Rpc, create: Create, of: str) -> None:
    here = await create(messages=[said("a", message_id="mine"), said("b")])
    there = await create(messages=[said("x"), said("y", message_id="theirs")])
    foreign = (await message(engine, there, 1)).message_id
    asked = [fresh(), "msg_nonsense", "msg_"]
    if of == "another session":
        asked = [foreign, "theirs"]
    elif of == "a removed message":
        asked = [(await message(engine, here, 2)).message_id]
        await engine.RemoveMessages(session_id=here, last=1)
    elif of == "the server, for one with its own":
        asked = [(await message(engine, here, 2)).message_id.removesuffix("_2") + "_1"]
    before = await whole(engine, here)
    for message_id in asked:
        refused = await refusal(engine.UpdateMessage(session_id=here, message_id=message_id, message=said("z")))
        assert (refused.code.name, refused.reason, refused.field) == ("NOT_FOUND", "MESSAGE_NOT_FOUND", "message_id")
    assert await whole(engine, here) == before


@pytest.mark.parametrize(
    ("seq", "change", "field"),
    [
        (1, said("x", role=ASSISTANT), "message.role"),
        (1, said("x", role=ROLE_SYSTEM), "message.role"),
        (1, Message(role=USER), "message.parts"),
        (2, said("no calls", role=ASSISTANT), "message.parts"),
        (2, called("c2", "c1"), "message.parts"),
        (2, called("c1"), "message.parts"),
        (2, called("c1", "c2", "c3"), "message.parts"),
        (2, called("c1", "c2", name="other"), "message.parts"),
        (3, answered("c2"), "message.call_id"),
        (3, Message(role=TOOL, parts=[Part(text="x")]), "message.call_id"),
        (4, called("new"), "message.parts"),
    ],
)
async def test_role_and_calls_must_stay(engine: Rpc, create: Create, seq: int, change: Message, field: str) -> None:
    session_id = await create(messages=[said("q"), called("c1", "c2"), answered("c1"), said("x", role=ASSISTANT)])
    before = await whole(engine, session_id)
    target = before.messages[seq - 1].message_id
    named = await field_refused(engine.UpdateMessage(session_id=session_id, message_id=target, message=change))
    assert named == field
    assert await whole(engine, session_id) == before


async def test_changed_arguments_change_the_ledger_and_its_digest(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[called("c1", arguments='{"a":1}')])
    old = await only_call(engine, session_id)
    message_id = (await message(engine, session_id, 1)).message_id
    # The same arguments, written otherwise, behind a new text.
    for arguments, same in (('{ "a" : 1 }', True), ('{"a":1.0}', False)):
        changed = called("c1", arguments=arguments, text="told")
        await engine.UpdateMessage(session_id=session_id, message_id=message_id, message=changed)
        call = await only_call(engine, session_id)
        assert (call.tool_call_id, call.arguments_json) == (old.tool_call_id, arguments)
        assert (call.arguments_digest == old.arguments_digest) is same
        found = await engine.ListToolCalls(session_id=session_id, arguments_digest=call.arguments_digest)
        assert list(found.tool_calls) == [call]
    assert (
        list((await engine.ListToolCalls(session_id=session_id, arguments_digest=old.arguments_digest)).tool_calls)
        == []
    )
    then = (await whole(engine, session_id, 1)).open_tool_calls
    assert list(then) == [old]


async def test_a_changed_result_changes_how_its_call_ended(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[called("c1"), answered("c1", "1")])
    message_id = (await message(engine, session_id, 2)).message_id
    update = {"session_id": session_id, "message_id": message_id}
    await engine.UpdateMessage(message=answered("c1", "2"), **update)
    assert (await only_call(engine, session_id)).result_json == "2"
    # An equal second result is fine, a different one is not.
    complete = {"session_id": session_id, "call_id": "c1"}
    assert (await engine.CompleteToolCall(result_json="2", **complete)).receipt.version == 2
    assert (await refusal(engine.CompleteToolCall(result_json="1", **complete))).reason == "TOOL_CALL_ENDED"
    failed = Message(role=TOOL, parts=[Part(tool_result=ToolResultPart(call_id="c1", text="boom", is_error=True))])
    await engine.UpdateMessage(message=failed, **update)
    call = await only_call(engine, session_id)
    assert (call.status, call.result_json, call.error, call.ended_version) == (FAILED, "", "boom", 1)
    assert (await engine.CompleteToolCall(error="boom", **complete)).receipt.version == 3
    await engine.UpdateMessage(message=answered("c1", "[3]"), **update)
    assert (await only_call(engine, session_id)).status == SUCCEEDED


async def test_a_cancelled_call_stays_cancelled(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[called("c1")])
    await engine.CompleteToolCall(session_id=session_id, call_id="c1", status=CANCELLED, error="stop")
    message_id = (await message(engine, session_id, 2)).message_id
    redacted = Message(role=TOOL, call_id="c1", parts=[Part(tool_result=ToolResultPart(text="…", is_error=True))])
    await engine.UpdateMessage(session_id=session_id, message_id=message_id, message=redacted)
    call = await only_call(engine, session_id)
    assert (call.status, call.error) == (CANCELLED, "…")


async def test_a_replay_gives_the_message_as_of_the_first_answer(engines: tuple[Rpc, Rpc], create: Create) -> None:
    session_id = await create(messages=[said("a", message_id="mine")])
    request: dict[str, Any] = {
        "session_id": session_id,
        "message_id": "mine",
        "message": said("b"),
        "request_id": "one",
    }
    first = await engines[0].UpdateMessage(**request)
    for later in (
        engines[0].UpdateMessage(session_id=session_id, message_id="mine", message=said("c")),
        engines[1].RemoveMessages(session_id=session_id, last=1),
        engines[0].CloseSession(session_id=session_id),
    ):
        await later
        again = await engines[1].UpdateMessage(**request)
        assert again.message == first.message
        assert again.receipt == as_replayed(first.receipt)
    reused = await refusal(engines[0].UpdateMessage(**request | {"message": said("d")}))
    assert reused.reason == "REQUEST_ID_REUSED"


async def test_versions_and_state_guard_a_change(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[said("a", message_id="mine")])
    update = {"session_id": session_id, "message_id": "mine"}
    stale = await refusal(engine.UpdateMessage(message=said("b"), expected_version=3, **update))
    assert (stale.reason, stale.metadata["current_version"]) == ("VERSION_CONFLICT", "1")
    await engine.UpdateMessage(message=said("b"), expected_version=1, **update)
    await engine.CloseSession(session_id=session_id)
    assert (await refusal(engine.UpdateMessage(message=said("c"), **update))).reason == "SESSION_CLOSED"
    assert texts_of((await whole(engine, session_id)).messages) == ["b"]
    assert len(await paged(engine.ListCommits, "commits", session_id=session_id)) == 3
