from datetime import timedelta

import pytest

from lockstitch import Client, SessionHandle, assistant, call, tool, user
from lockstitch.errors import CursorAhead, InvalidField, SessionExists, SessionNotFound
from lockstitch.types import Message


def texts(messages: list[Message]) -> list[str]:
    return [message.parts[0].text for message in messages]


async def forks_of(client: Client, session: SessionHandle) -> list[str]:
    return [info.session_id async for info in client.list(forked_from=session.session_id)]


async def test_a_fork_is_a_handle_of_its_own(client: Client) -> None:
    session = await client.create(user_id="u1", title="t", messages=[user("one")], labels={"a": "b"})
    await session.append(messages=[user("two")], memory_change={"goal": "g"})
    branch = await session.fork(at_version=1, title="what if", labels={"c": "d"})
    assert type(branch) is SessionHandle
    assert branch.session_id != session.session_id
    assert (session.version, branch.version) == (2, 1)
    assert branch.receipt is not None
    assert branch.receipt.last_seq == 1
    assert branch.info is not None
    assert (branch.info.title, dict(branch.info.labels)) == ("what if", {"c": "d"})
    assert (branch.info.forked_from.session_id, branch.info.forked_from.version) == (session.session_id, 1)
    await branch.append(messages=[user("other")], expected_version=branch.version)
    assert texts([message async for message in branch.messages()]) == ["one", "other"]
    assert texts([message async for message in session.messages()]) == ["one", "two"]

    now = await session.fork(new_session_id=f"{session.session_id[5:]}-fork", timeout=timedelta(seconds=60))
    assert now.session_id == f"{session.session_id[5:]}-fork"
    assert (await now.memory()).goal == "g"
    assert now.info is not None
    assert (now.info.title, dict(now.info.labels)) == ("t", {})
    assert await forks_of(client, session) == [now.session_id, branch.session_id]
    assert await forks_of(client, now) == []
    again = await now.fork()
    assert await forks_of(client, now) == [again.session_id]


async def test_a_fork_is_made_once(client: Client) -> None:
    session = await client.create(messages=[user("one")])
    first = await session.fork(request_id="fork-1")
    again = await session.fork(request_id="fork-1")
    assert again.session_id == first.session_id
    assert again.receipt is not None
    assert again.receipt.replayed
    assert await forks_of(client, session) == [first.session_id]


async def test_what_can_not_be_forked_says_what_can(client: Client) -> None:
    session = await client.create(messages=[user("weather?")])
    await session.append(messages=[assistant(tool_calls=[call("c1", "weather", {})])])
    await session.append(messages=[user("hurry")])
    await session.append(messages=[tool("c1", "rain")])
    with pytest.raises(InvalidField) as caught:
        await session.fork(at_version=3)
    assert caught.value.metadata == {"nearest_below": "1", "nearest_above": "4"}
    for version in caught.value.metadata.values():
        assert (await session.fork(at_version=int(version))).version == 1
    with pytest.raises(CursorAhead) as ahead:
        await session.fork(at_version=5)
    assert ahead.value.current_version == 4
    taken = await client.create(session_id=f"{session.session_id[5:]}-taken")
    with pytest.raises(SessionExists):
        await session.fork(new_session_id=taken.session_id)
    with pytest.raises(SessionNotFound):
        await client.session("never-was").fork()


async def test_erasures_name_forks(client: Client) -> None:
    session = await client.create(messages=[user("one"), user("secret")], memory=None)
    await session.update_memory(change={"goal": "secret"})
    fork = await session.fork()
    (_, secret) = [message async for message in session.messages()]
    changed = await session.update_message(message_id=secret.message_id, message=user("two"), erase_history=True)
    assert list(changed.forks) == [fork.session_id]
    forgotten = await session.update_memory(change={"goal": None}, erase_history=True)
    assert list(forgotten.forks) == [fork.session_id]
    removed = await session.remove(last=1, erase_history=True)
    assert list(removed.forks) == []
    assert (await fork.memory()).goal == "secret"
    assert texts([message async for message in fork.messages()]) == ["one", "secret"]
