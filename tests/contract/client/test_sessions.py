from datetime import timedelta

import pytest

from lockstitch import Client, JsonText, assistant, blob, call, json_part, replace, tool, user, working_memory
from lockstitch.errors import (
    ExpectedVersionRequired,
    InvalidField,
    MessageTooLarge,
    RequestIdReused,
    RoleNotAllowed,
    SessionClosed,
    SessionExists,
    SessionNotFound,
    TokenInvalid,
    VersionConflict,
)
from lockstitch.types import CreateIfMissing, Role, SessionStatus
from lockstitch_server.server_process import ServerProcess

ACTIVE, CLOSED = SessionStatus.SESSION_STATUS_ACTIVE, SessionStatus.SESSION_STATUS_CLOSED


async def test_the_short_names_of_a_sessions_life(client: Client) -> None:
    session = await client.create(user_id="u1", title="Trip", labels={"team": "blue"}, metadata={"n": 1})
    assert (session.version, session.memory_version) == (1, 0)
    receipt = await session.append(messages=[user("hi"), assistant("hello")], expected_version=session.version)
    assert (receipt.version, receipt.first_seq, receipt.last_seq, session.version) == (2, 1, 2, 2)
    await session.update_memory(change={"goal": "rest"})
    assert ((await session.memory()).goal, session.memory_version, session.version) == ("rest", 3, 3)
    closed = await session.close(reason="done")
    assert (closed.session.status, closed.session.close_reason, session.version) == (CLOSED, "done", 4)
    with pytest.raises(SessionClosed):
        await session.append(messages=[user("too late")])
    await session.restore()
    again = await client.get(session.session_id)
    assert again.info is not None
    assert (again.info.status, again.version, again.info.title) == (ACTIVE, 5, "Trip")
    assert (again.info.metadata_json, dict(again.info.labels)) == ('{"n":1}', {"team": "blue"})


async def test_what_was_said_comes_back_as_it_was_made(client: Client) -> None:
    made = [
        user("Æ 🏙 \u0000", json_part(JsonText('{"z": 1e3, "z": -0.0}')), blob("image/png", data=bytes(range(256)))),
        assistant("…", tool_calls=[call("search:0", "find", '{"q" : 7203685477580123457}')], reasoning="Hm."),
        tool("search:0", JsonText('{"neg": -9007199254740993}')),
        assistant(metadata={"order": [3, 1, 2]}, message_id="mine"),
    ]
    made[3].parts.extend(user("late").parts)
    session = await client.create(messages=made)
    got = [message async for message in session.messages(page_size=1)]
    for place, (message, sent) in enumerate(zip(got, made, strict=True), 1):
        assert (message.seq, message.version) == (place, 1)
        assert (list(message.parts), message.metadata_json) == (list(sent.parts), sent.metadata_json)
    assert got[3].message_id == "mine"


# Case A01
async def test_of_two_writers_one_wins_and_the_other_is_told(client: Client) -> None:
    session = await client.create(user_id="u1")
    other = await client.get(session.session_id)
    await session.append(messages=[user("first")], expected_version=session.version)
    with pytest.raises(VersionConflict) as caught:
        await other.append(messages=[user("second")], expected_version=other.version)
    conflict = caught.value
    assert (conflict.expected_version, conflict.current_version, conflict.last_seq) == (1, 2, 1)
    assert [c.version async for c in other.commits(after_version=conflict.expected_version)] == [2]
    await other.get()
    await other.append(messages=[user("second")], expected_version=other.version)
    assert other.version == 3


# Case A03
async def test_a_request_id_of_ones_own_is_made_once(client: Client) -> None:
    session = await client.create()
    first = await session.append(messages=[user("pay invoice 12")], request_id="r-77", expected_version=1)
    await session.append(messages=[user("thanks")], request_id="r-78", expected_version=2)
    again = await session.append(messages=[user("pay invoice 12")], request_id="r-77", expected_version=1)
    assert again.replayed
    assert (again.version, again.message_ids) == (first.version, first.message_ids)
    assert session.version == 3
    with pytest.raises(RequestIdReused) as caught:
        await session.append(messages=[user("pay invoice 13")], request_id="r-77")
    assert caught.value.request_id == "r-77"


async def test_a_create_with_the_same_request_id_finds_the_same_session(client: Client) -> None:
    first = await client.create(user_id="u1", request_id="make-one")
    again = await client.create(user_id="u1", request_id="make-one")
    assert again.session_id == first.session_id
    assert again.receipt is not None
    assert again.receipt.replayed


async def test_ids_that_are_taken_or_unknown_are_told_by_class(client: Client) -> None:
    await client.create(session_id="taken", user_id="u1")
    with pytest.raises(SessionExists):
        await client.create(session_id="taken", user_id="u2")
    with pytest.raises(SessionNotFound):
        await client.get("never was")
    with pytest.raises(SessionNotFound):
        await client.session("never was").append(messages=[user("hi")])


async def test_an_append_may_create_its_session(client: Client) -> None:
    session = client.session("made-by-append")
    owner = CreateIfMissing(user_id="u1", agent="a")
    receipt = await session.append(messages=[user("hi")], create_if_missing=owner, expected_version=session.version)
    assert (receipt.version, session.version) == (1, 1)
    assert (await session.get()).session.user_id == "u1"


async def test_a_replaced_memory_needs_a_guard_and_the_handle_has_one(client: Client) -> None:
    session = await client.create(memory=working_memory(goal="one", plan=["a"]))
    with pytest.raises(ExpectedVersionRequired):
        await session.update_memory(change=replace(working_memory(goal="two")))
    await client.session(session.session_id).append(messages=[user("somebody else's message")])
    memory = await session.memory()
    memory.plan.append("b")
    changed = await session.update_memory(change=replace(memory), expected_memory_version=session.memory_version)
    assert (changed.memory.goal, list(changed.memory.plan)) == ("one", ["a", "b"])


async def test_a_handle_does_not_step_over_somebody_elses_memory(client: Client) -> None:
    session = await client.create(memory=working_memory(goal="one"))
    memory = await session.memory()
    other = await client.get(session.session_id)
    await other.update_memory(change={"plan": ["theirs"]})
    await session.append(messages=[user("unguarded, behind theirs")])
    with pytest.raises(VersionConflict):
        await session.update_memory(change=replace(memory), expected_version=session.version)
    with pytest.raises(VersionConflict):
        await session.update_memory(change=replace(memory), expected_memory_version=session.memory_version)
    assert list((await session.memory()).plan) == ["theirs"]


async def test_lists_give_every_session_once_and_narrow(client: Client) -> None:
    made = [await client.create(user_id="lister", labels={"n": str(number % 2)}) for number in range(7)]
    await made[0].append(messages=[user("the newest now")])
    listed = [info.session_id async for info in client.list(user_id="lister", page_size=2)]
    assert listed[0] == made[0].session_id
    assert sorted(listed) == sorted(one.session_id for one in made)
    odd = [info.session_id async for info in client.list(user_id="lister", labels={"n": "1"})]
    assert sorted(odd) == sorted(one.session_id for one in made[1::2])
    await made[1].close()
    closed = [info.session_id async for info in client.list(user_id="lister", statuses=[CLOSED])]
    assert closed == [made[1].session_id]


async def test_messages_can_be_narrowed_and_turned_round(client: Client) -> None:
    session = await client.create(messages=[user("1"), assistant("2"), user("3"), assistant("4")])
    assert [m.seq async for m in session.messages(descending=True, page_size=3)] == [4, 3, 2, 1]
    assert [m.seq async for m in session.messages(after_seq=1, before_seq=4)] == [2, 3]
    assert [m.seq async for m in session.messages(roles=[Role.ROLE_USER])] == [1, 3]
    assert [m.seq for m in (await session.get(recent_messages=2)).messages] == [3, 4]


async def test_what_a_user_may_not_do_is_told_by_class(client: Client, user_client: Client) -> None:
    session = await user_client.create(title="mine")
    await session.append(messages=[user("hi")])
    with pytest.raises(RoleNotAllowed):
        await session.append(messages=[assistant("as if I were the model")])
    theirs = await client.create(user_id="u2")
    with pytest.raises(SessionNotFound):
        await user_client.get(theirs.session_id)
    with pytest.raises(RoleNotAllowed):
        await user_client.server_info()


async def test_refused_fields_are_named_by_the_server(client: Client) -> None:
    session = await client.create()
    with pytest.raises(InvalidField) as caught:
        await session.append(messages=[user("fine"), user(json_part(JsonText('{"a": NaN}')))])
    assert [one.field for one in caught.value.field_violations] == ["messages[1].parts[0].json"]
    with pytest.raises(MessageTooLarge) as too_large:
        await session.append(messages=[user("x" * 5_000_000)])
    assert too_large.value.limit_bytes == 3 * 1024 * 1024
    assert (await session.get()).session.version == 1


# Case A17
async def test_the_largest_messages_are_read_by_a_default_client(client: Client) -> None:
    session = await client.create()
    for number in range(10):
        await session.append(messages=[user(f"{number}" * 900_000)])
    sizes = [len(message.parts[0].text) async for message in session.messages(page_size=100)]
    assert sizes == [900_000] * 10
    context = await session.context()
    assert context.truncated
    assert context.messages[-1].parts[0].text[0] == "9"


async def test_a_token_can_be_given_afresh(server: ServerProcess) -> None:
    given: list[str] = []

    def token() -> str:
        given.append(server.token(tenant="client-tests"))
        return given[-1]

    async with Client(server.target, token=token) as client:
        session = await client.create()
        await session.append(messages=[user("hi")])
    assert len(given) == 2
    async with Client(server.target, token="not one") as stranger:
        with pytest.raises(TokenInvalid):
            await stranger.get(session.session_id)


async def test_a_session_lives_as_long_as_it_was_given(client: Client) -> None:
    session = await client.create(ttl=timedelta(days=1), idle_ttl=timedelta(hours=1))
    assert session.info is not None
    life = session.info.expire_time.ToDatetime() - session.info.create_time.ToDatetime()
    assert life == timedelta(days=1)
    assert session.info.idle_ttl.ToTimedelta() == timedelta(hours=1)


async def test_the_server_says_what_it_is(client: Client) -> None:
    info = await client.server_info()
    assert info.limits.append_messages_max == 100
    assert info.store_epoch
