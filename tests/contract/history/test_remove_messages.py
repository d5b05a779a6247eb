"""Messages taken back from the end of a session."""

import asyncio
from typing import Any

import pytest

from factories import ASSISTANT, answered, called, held, said, texts_of
from lockstitch.v1.message_pb2 import Message, Original, Part, Usage
from support.histories import paged, whole
from support.rpc import As, Create, Rpc, as_replayed, field_refused, refusal


def as_removed(messages: Any, version: int) -> list[Message]:
    """Messages as they are given once a commit has removed them."""
    removed = []
    for message in messages:
        gone = Message.FromString(message.SerializeToString())
        gone.removed_version = version
        removed.append(gone)
    return removed


RICH = [
    said("a", "b", message_id="own-1", author="ann", metadata_json='{"b":1,"a":1e3}', usage=Usage(model="m")),
    held(json='{"z":-0.0,"a":12345678901234567890}'),
    Message(
        role=ASSISTANT, original=Original(format="x", data=b"\x00\xff"), parts=[Part(reasoning="r")], incomplete=True
    ),
    called("c1", arguments='{ "q" : 1.0 }', text="now"),
    answered("c1", '{"out":"a\\u0000b"}'),
]


async def test_pop_gives_back_the_newest_byte_for_byte(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=RICH)
    before = await whole(engine, session_id)
    for size in (2, 1, 5):
        now = await whole(engine, session_id)
        popped = await engine.RemoveMessages(session_id=session_id, last=size)
        taken = list(now.messages)[-size:]
        assert list(popped.removed) == as_removed(taken, popped.receipt.version)
        assert popped.removed_count == len(taken)
        assert (popped.receipt.version, popped.receipt.first_seq) == (now.session.version + 1, 0)
        assert list((await whole(engine, session_id)).messages) == list(now.messages)[: -len(taken)]
    after = (await engine.GetSession(session_id=session_id)).session
    assert (after.message_count, after.last_seq) == (0, before.session.last_seq)


async def test_two_takers_at_two_servers_take_different_ones(engines: tuple[Rpc, Rpc], create: Create) -> None:
    session_id = await create(messages=[said(f"m{number}") for number in range(16)])
    answers = await asyncio.gather(
        *(engines[number % 2].RemoveMessages(session_id=session_id, last=1) for number in range(16))
    )
    taken = [texts_of(answer.removed) for answer in answers]
    assert sorted(taken) == sorted([f"m{number}"] for number in range(16))
    # Each took what was the newest when it came.
    by_version = sorted(answers, key=lambda answer: answer.receipt.version)
    assert [texts_of(answer.removed)[0] for answer in by_version] == [f"m{number}" for number in range(15, -1, -1)]


async def test_clear_is_one_commit_and_the_rest_stays(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[said("a"), said("b")], memory={"goal": "g"}, labels={"k": "v"})
    cleared = await engine.RemoveMessages(session_id=session_id, from_seq=1)
    assert (texts_of(cleared.removed), cleared.removed_count) == (["a", "b"], 2)
    now = await whole(engine, session_id)
    assert (list(now.messages), now.memory.goal, dict(now.session.labels)) == ([], "g", {"k": "v"})
    assert (now.session.version, now.session.message_count, now.session.last_seq) == (2, 0, 2)


async def test_nothing_to_take_is_ok_and_changes_nothing(engine: Rpc, create: Create) -> None:
    empty, short = await create(), await create(messages=[said("a")])
    for session_id, which in ((empty, {"last": 5}), (empty, {"from_seq": 1}), (short, {"from_seq": 2})):
        before = await whole(engine, session_id)
        request: dict[str, Any] = {"session_id": session_id, "request_id": "take", **which}
        told = await engine.RemoveMessages(**request)
        assert (list(told.removed), told.removed_count) == ([], 0)
        assert (told.receipt.version, told.receipt.replayed) == (before.session.version, False)
        assert await whole(engine, session_id) == before
    # It is no record either: a repeat is judged anew.
    await engine.Append(session_id=empty, messages=[said("new")])
    assert texts_of((await engine.RemoveMessages(session_id=empty, last=5, request_id="take")).removed) == ["new"]


async def test_a_replacement_alone_is_stored_where_there_is_nothing_to_take(engine: Rpc, create: Create) -> None:
    session_id = await create()
    told = await engine.RemoveMessages(session_id=session_id, last=1, replacement=[said("first")])
    assert (told.removed_count, told.receipt.first_seq, told.receipt.last_seq) == (0, 1, 1)


async def test_a_removed_seq_is_never_given_again(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[said("a"), said("b"), said("c")])
    replaced = await engine.RemoveMessages(session_id=session_id, from_seq=2, replacement=[said("d"), said("e")])
    assert (replaced.receipt.first_seq, replaced.receipt.last_seq) == (4, 5)
    await engine.RemoveMessages(session_id=session_id, last=5)
    appended = await engine.Append(session_id=session_id, messages=[said("f")])
    assert appended.receipt.first_seq == 6
    listed = await paged(engine.ListMessages, "messages", session_id=session_id, show_removed=True)
    assert [message.seq for message in listed] == [1, 2, 3, 4, 5, 6]


async def test_a_message_id_is_taken_for_good(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[said("a", message_id="mine")])
    await engine.RemoveMessages(session_id=session_id, last=1)
    again = engine.Append(session_id=session_id, messages=[said("new"), said("a", message_id="mine")])
    refused = await refusal(again)
    assert (refused.code.name, refused.reason) == ("ALREADY_EXISTS", "MESSAGE_ID_EXISTS")
    assert refused.field == "messages[1].message_id"
    await engine.Append(session_id=session_id, messages=[said("b", message_id="other")])
    for which in ({"last": 1}, {"from_seq": 1}):
        for message_id in ("mine", "other"):
            replacement = [said("x"), said("a", message_id=message_id)]
            refused = await refusal(engine.RemoveMessages(session_id=session_id, replacement=replacement, **which))
            assert (refused.reason, refused.field) == ("MESSAGE_ID_EXISTS", "replacement[1].message_id")
    assert texts_of((await whole(engine, session_id)).messages) == ["b"]


async def test_a_replay_gives_the_same_messages_whatever_came_after(engines: tuple[Rpc, Rpc], create: Create) -> None:
    session_id = await create(messages=RICH)
    request: dict[str, Any] = {
        "session_id": session_id,
        "last": 3,
        "replacement": [said("x", message_id="x"), said("y")],
    }
    first = await engines[0].RemoveMessages(request_id="take", **request)
    assert first.removed_count == 3
    for later in (
        engines[0].Append(session_id=session_id, messages=[said("later")]),
        engines[1].UpdateMessage(session_id=session_id, message_id="x", message=said("changed")),
        engines[0].RemoveMessages(session_id=session_id, from_seq=1),
        engines[1].CloseSession(session_id=session_id),
    ):
        await later
        again = await engines[1].RemoveMessages(request_id="take", **request)
        assert (list(again.removed), again.removed_count) == (list(first.removed), 3)
        assert again.receipt == as_replayed(first.receipt)
    other = await refusal(engines[0].RemoveMessages(request_id="take", session_id=session_id, last=2))
    assert other.reason == "REQUEST_ID_REUSED"


async def test_versions_guard_a_removal(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[said("a")])
    stale = await refusal(engine.RemoveMessages(session_id=session_id, last=1, expected_version=7))
    assert (stale.code.name, stale.reason) == ("ABORTED", "VERSION_CONFLICT")
    assert stale.metadata == {"expected_version": "7", "current_version": "1", "memory_version": "0", "last_seq": "1"}
    await engine.RemoveMessages(session_id=session_id, last=1, expected_version=1)
    await engine.CloseSession(session_id=session_id)
    assert (await refusal(engine.RemoveMessages(session_id=session_id, last=1))).reason == "SESSION_CLOSED"


async def test_of_too_many_only_the_newest_come_back_and_all_are_counted(engine: Rpc, create: Create) -> None:
    session_id = await create()
    for number in range(5):
        await engine.Append(session_id=session_id, messages=[said(str(number) * 1_000_000)])
    answer = await engine.RemoveMessages(session_id=session_id, from_seq=1)
    assert answer.removed_count == 5
    assert [message.seq for message in answer.removed] == [3, 4, 5]
    assert answer.ByteSize() < 4 * 1024 * 1024 - 64 * 1024


@pytest.mark.parametrize("which", [{}, {"last": 0}, {"last": -1}, {"from_seq": 0}, {"from_seq": -3}])
async def test_what_to_take_must_be_said(engine: Rpc, create: Create, which: dict[str, int]) -> None:
    session_id = await create(messages=[said("a")])
    assert await field_refused(engine.RemoveMessages(session_id=session_id, **which)) == next(iter(which), "last")
    for bad in ([said("x"), Message(role=ASSISTANT)], [said("x"), called("c", arguments="{")]):
        named = await field_refused(engine.RemoveMessages(session_id=session_id, last=1, replacement=bad))
        assert named.startswith("replacement[1].parts")
    assert texts_of((await whole(engine, session_id)).messages) == ["a"]


async def test_a_user_takes_nothing_back(engine: Rpc, user: Rpc, call_as: As, create: Create) -> None:
    session_id = await create(messages=[said("a", message_id="m")])
    for caller in (user, call_as("u2")):
        for change in (
            caller.RemoveMessages(session_id=session_id, last=1),
            caller.UpdateMessage(session_id=session_id, message_id="m", message=said("b")),
        ):
            refused = await refusal(change)
            assert (refused.code.name, refused.reason) == ("PERMISSION_DENIED", "ROLE_NOT_ALLOWED")
    stranger = call_as("e", "engine", tenant="other-" + session_id)
    assert (await refusal(stranger.RemoveMessages(session_id=session_id, last=1))).reason == "SESSION_NOT_FOUND"
    assert texts_of((await whole(engine, session_id)).messages) == ["a"]
