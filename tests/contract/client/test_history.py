from datetime import UTC, datetime, timedelta

import pytest

from lockstitch import Client, assistant, call, tool, user
from lockstitch.errors import CursorAhead, ExpectedVersionRequired, MessageNotFound, VersionConflict
from lockstitch.types import Message, SessionStatus


def texts(messages: list[Message]) -> list[str]:
    return [message.parts[0].text if message.parts else "" for message in messages]


async def test_a_session_is_read_as_it_was(client: Client) -> None:
    session = await client.create(title="before", messages=[user("one")])
    await session.append(messages=[user("two")], memory_change={"goal": "g"})
    await session.update(title="after")
    then = await session.get(at_version=1, recent_messages=5, include_memory=True)
    assert (then.session.title, texts(list(then.messages)), then.memory.version) == ("before", ["one"], 0)
    assert session.version == 3
    assert session.info is not None
    assert session.info.title == "after"
    assert (await session.memory(at_version=2)).goal == "g"
    with pytest.raises(CursorAhead) as caught:
        await session.memory(at_version=4)
    assert caught.value.current_version == 3


async def test_memory_versions_come_newest_first(client: Client) -> None:
    session = await client.create()
    for number in range(5):
        await session.update_memory(change={"next_action": f"step {number}"})
    found = [memory async for memory in session.memory_versions(page_size=2)]
    assert [memory.next_action for memory in found] == [f"step {number}" for number in reversed(range(5))]
    assert [memory.version for memory in found] == [6, 5, 4, 3, 2]


async def test_the_last_turn_is_taken_back_and_its_call_is_open_again(client: Client) -> None:
    session = await client.create(messages=[user("weather?")])
    await session.append(messages=[assistant(tool_calls=[call("c1", "weather", {"city": "Oslo"})])])
    await session.append(messages=[tool("c1", "4 degrees"), assistant("It is cold.")])
    taken = await session.remove(last=2, replacement=[assistant("Let me look again.")])
    assert (taken.removed_count, [message.seq for message in taken.removed]) == (2, [3, 4])
    assert session.version == taken.receipt.version == 4
    assert [message.seq async for message in session.messages()] == [1, 2, 5]
    shown = [message async for message in session.messages(show_removed=True)]
    assert [(message.seq, message.removed_version) for message in shown] == [(1, 0), (2, 0), (3, 4), (4, 4), (5, 0)]
    assert len((await session.get(include_open_tool_calls=True)).open_tool_calls) == 1
    await session.remove(from_seq=2, expected_version=session.version)
    assert [message.seq async for message in session.messages()] == [1]


async def test_a_message_is_redacted_in_its_place_and_in_the_past(client: Client) -> None:
    session = await client.create(messages=[user("my pin is 1234", message_id="m1"), user("thanks")])
    changed = await session.update_message(message_id="m1", message=user("[redacted]"), erase_history=True)
    assert (changed.message.seq, changed.receipt.version, session.version) == (1, 2, 2)
    assert texts([message async for message in session.messages()]) == ["[redacted]", "thanks"]
    then = await session.get(at_version=1, recent_messages=5)
    assert [(message.seq, message.erased) for message in then.messages] == [(1, True), (2, False)]
    with pytest.raises(MessageNotFound):
        await session.update_message(message_id="m2", message=user("x"))


async def test_an_update_changes_what_is_named_and_nothing_else(client: Client) -> None:
    session = await client.create(
        title="T", labels={"a": "1"}, metadata={"k": 1}, ttl=timedelta(days=1), idle_ttl=timedelta(hours=1)
    )
    await session.update(expire_time=None)
    assert session.info is not None
    assert not session.info.HasField("expire_time")
    assert session.info.idle_ttl.ToTimedelta() == timedelta(hours=1)
    ends = datetime.now(UTC).replace(microsecond=0) + timedelta(days=2)
    await session.update(expire_time=ends, idle_ttl=None, title="")
    assert session.info.expire_time.ToDatetime(UTC) == ends
    assert (session.info.HasField("idle_ttl"), session.info.title) == (False, "")
    with pytest.raises(ExpectedVersionRequired):
        await session.update(labels={})
    with pytest.raises(VersionConflict):
        await session.update(labels={}, expected_version=1)
    await session.update(labels={"b": "2"}, metadata=None, expected_version=session.version)
    assert (dict(session.info.labels), session.info.metadata_json) == ({"b": "2"}, "")
    await session.update(metadata={"k": 2}, force=True)
    assert (session.info.metadata_json, session.version) == ('{"k":2}', 5)


async def test_erased_memory_is_gone_from_its_versions(client: Client) -> None:
    session = await client.create()
    await session.update_memory(change={"secret": "1234"})
    await session.update_memory(change={"secret": None}, erase_history=True)
    assert "1234" not in "".join([memory.extra_json async for memory in session.memory_versions()])


async def test_sessions_are_listed_by_when_they_were_created(client: Client) -> None:
    first = await client.create(user_id="by-creation")
    second = await client.create(user_id="by-creation")
    assert first.info is not None
    assert second.info is not None
    created = second.info.create_time.ToDatetime(UTC)
    older = [one.session_id async for one in client.list(user_id="by-creation", created_before=created)]
    newer = [one.session_id async for one in client.list(user_id="by-creation", created_after=created)]
    assert (older, newer) == ([first.session_id], [second.session_id])
    assert first.info.status == SessionStatus.SESSION_STATUS_ACTIVE
