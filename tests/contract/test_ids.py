"""CONTRACT 6 and 17: ids are locators, kept and compared exactly."""

from collections.abc import Callable

import grpc
import pytest

from factories import called, fresh, said
from lockstitch_server.server_process import ServerProcess
from support.databases import Database
from support.rpc import As, Create, Rpc, field_refused, refusal

ALIKE = [
    "café",
    "cafe\u0301",
    "CAFÉ",
    "café ",
    " café",
    "cafe",
    "ca fé",
    "cafés",
    "\uff43\uff41\uff46é",
    "\ufb01",
    "fi",
]
WIDEST = "\U0001f600" * 128
UNPRINTABLE = ["", "x" * 129, "\U0001f600" * 129, "a\nb", "a\u0000b", "\u00a0", "\u200b", "\u202ea", "\ufeff", "\ue000"]


async def test_ids_that_look_alike_are_different_sessions(engine: Rpc) -> None:
    ids = list(dict.fromkeys(ALIKE))
    for session_id in ids:
        await engine.CreateSession(session_id=session_id, title=repr(session_id))
    for session_id in ids:
        session = (await engine.GetSession(session_id=session_id)).session
        assert (session.session_id, session.title) == (session_id, repr(session_id))
    assert len((await engine.ListSessions()).sessions) == len(ids)


@pytest.mark.parametrize("session_id", [WIDEST, "x" * 128, " ", "../..", "a'b\"c;--", "%00", "*", "\\"])
async def test_any_printable_id_is_an_id(engine: Rpc, session_id: str) -> None:
    fields = {"session_id": session_id, "user_id": session_id, "agent": session_id, "labels": {session_id: session_id}}
    await engine.CreateSession(
        **fields, messages=[called(session_id, name=session_id), said("x", message_id=session_id)]
    )
    got = await engine.GetSession(session_id=session_id, recent_messages=2, include_open_tool_calls=True)
    assert (got.session.user_id, got.session.agent, dict(got.session.labels)) == (
        session_id,
        session_id,
        {session_id: session_id},
    )
    assert (got.messages[1].message_id, got.open_tool_calls[0].call_id, got.open_tool_calls[0].name) == (
        session_id,
    ) * 3
    listed = await engine.ListSessions(user_id=session_id, agent=session_id, labels={session_id: session_id})
    assert [session.session_id for session in listed.sessions] == [session_id]


@pytest.mark.parametrize("bad", UNPRINTABLE)
async def test_what_is_no_id_is_refused_by_name_wherever_it_stands(engine: Rpc, create: Create, bad: str) -> None:
    session_id = await create()
    calls = {
        "session_id": engine.GetSession(session_id=bad),
        "messages[0].parts[0].tool_call.call_id": engine.Append(session_id=session_id, messages=[called(bad)]),
        "messages[0].parts[0].tool_call.name": engine.Append(session_id=session_id, messages=[called("c", name=bad)]),
        "call_id": engine.CompleteToolCall(session_id=session_id, call_id=bad),
        "labels key": engine.CreateSession(labels={bad: "v"}),
    }
    if bad:
        calls |= {
            "agent": engine.CreateSession(agent=bad),
            "user_id": engine.ListSessions(user_id=bad),
            "labels": engine.CreateSession(labels={"k": bad}),
            "messages[0].message_id": engine.Append(session_id=session_id, messages=[said("x", message_id=bad)]),
            "messages[0].author": engine.Append(session_id=session_id, messages=[said("x", author=bad)]),
            "tool_call_id": engine.CompleteToolCall(session_id=session_id, tool_call_id=bad),
        }
    for field, call in calls.items():
        assert await field_refused(call) == field


async def test_server_made_ids_are_the_servers(engine: Rpc, create: Create) -> None:
    assert await field_refused(engine.CreateSession(session_id="sess_mine")) == "session_id"
    session_id = await create()
    mine = engine.Append(session_id=session_id, messages=[said("x", message_id="msg_mine")])
    assert await field_refused(mine) == "messages[0].message_id"
    missing = engine.Append(session_id="sess_" + "0" * 32, create_if_missing={}, messages=[said("x")])
    assert (await refusal(missing)).reason == "SESSION_NOT_FOUND"
    await engine.Append(session_id=session_id, create_if_missing={}, messages=[said("x")])


async def test_nobody_appends_to_another_users_session_by_creating_it(engine: Rpc, create: Create) -> None:
    for session_id in (await create(user_id="u1"), await create(session_id=fresh(), user_id="u1")):
        others = engine.Append(session_id=session_id, create_if_missing={"user_id": "u2"}, messages=[said("x")])
        assert (await refusal(others)).reason == "SESSION_EXISTS"
        await engine.Append(session_id=session_id, create_if_missing={"user_id": "u1"}, messages=[said("x")])


async def test_a_message_id_is_used_once_in_its_session_for_good(engine: Rpc, create: Create) -> None:
    session_id, other = await create(messages=[said("x", message_id="mine")]), await create()
    for batch, field in (
        ([said("y", message_id="mine")], "messages[0].message_id"),
        ([said("y"), said("z", message_id="new"), said("z", message_id="new")], "messages[2].message_id"),
    ):
        refused = await refusal(engine.Append(session_id=session_id, messages=batch))
        assert (refused.what, refused.field) == ((grpc.StatusCode.ALREADY_EXISTS, "MESSAGE_ID_EXISTS"), field)
    await engine.RemoveMessages(session_id=session_id, last=1)
    refused = await refusal(engine.Append(session_id=session_id, messages=[said("y", message_id="mine")]))
    assert refused.reason == "MESSAGE_ID_EXISTS"
    await engine.Append(session_id=other, messages=[said("y", message_id="mine")])
    await engine.Append(session_id=session_id, messages=[said("y", message_id="Mine")])


async def test_users_may_be_kept_from_choosing_ids(
    call_as: As, shared_database: Database, start_server: Callable[..., ServerProcess]
) -> None:
    strict = start_server(shared_database, LOCKSTITCH_USERS_CHOOSE_SESSION_IDS="false")
    user, engine = call_as("u1", to=strict), call_as("e", "engine", to=strict)
    for call in (
        user.CreateSession(session_id=fresh()),
        user.Append(session_id=fresh(), create_if_missing={}, messages=[said("hi")]),
    ):
        refused = await refusal(call)
        assert (refused.reason, refused.field) == ("ROLE_NOT_ALLOWED", "session_id")
    made = (await user.CreateSession()).session.session_id
    await user.Append(session_id=made, messages=[said("hi")])
    await engine.CreateSession(session_id=fresh(), user_id="u1")
