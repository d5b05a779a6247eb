"""Case A20: pages have no doubles and no holes while writes go on."""

import base64
from typing import Any

import grpc
import pytest

from factories import ASSISTANT, USER, called, fresh, said
from support.pages import all_of
from support.rpc import As, Create, Rpc, refusal

REFUSED = (grpc.StatusCode.INVALID_ARGUMENT, "PAGE_TOKEN_INVALID")


async def _hundred(create: Create) -> str:
    return await create(messages=[said(str(number)) for number in range(1, 101)])


async def _after(pages: int, method: Any, items: str, **fields: Any) -> tuple[list[Any], str]:
    """Read some pages; gives their items and the token of the next."""
    seen: list[Any] = []
    token = ""
    for _ in range(pages):
        page = await method(**fields, page_token=token)
        seen.extend(getattr(page, items))
        token = page.next_page_token
    return seen, token


async def test_an_ascending_list_takes_in_what_is_appended_meanwhile(engine: Rpc, create: Create) -> None:
    session_id = await _hundred(create)
    fields = {"session_id": session_id, "page_size": 10}
    seen, token = await _after(3, engine.ListMessages, "messages", **fields)
    await engine.Append(session_id=session_id, messages=[said(str(number)) for number in range(101, 106)])
    seen += await all_of("messages", engine.ListMessages, **fields, page_token=token)
    assert [message.seq for message in seen] == list(range(1, 106))


async def test_a_descending_list_stays_what_it_was(engine: Rpc, create: Create) -> None:
    session_id = await _hundred(create)
    fields: dict[str, Any] = {"session_id": session_id, "page_size": 10, "descending": True}
    seen, token = await _after(3, engine.ListMessages, "messages", **fields)
    await engine.Append(session_id=session_id, messages=[said(str(number)) for number in range(101, 106)])
    seen += await all_of("messages", engine.ListMessages, **fields, page_token=token)
    assert [message.seq for message in seen] == list(range(100, 0, -1))


@pytest.mark.parametrize("descending", [True, False])
async def test_the_log_pages_likewise(engine: Rpc, create: Create, *, descending: bool) -> None:
    session_id = await create()
    for _ in range(20):
        await engine.Append(session_id=session_id, messages=[said("hi")])
    fields = {"session_id": session_id, "page_size": 3, "descending": descending}
    seen, token = await _after(2, engine.ListCommits, "commits", **fields)
    await engine.Append(session_id=session_id, messages=[said("hi")])
    seen += await all_of("commits", engine.ListCommits, **fields, page_token=token)
    versions = [commit.version for commit in seen]
    assert versions == (list(range(21, 0, -1)) if descending else list(range(1, 23)))


async def test_tool_calls_page_likewise(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[called(*(f"a{number}" for number in range(25)))])
    fields = {"session_id": session_id, "page_size": 10}
    seen, token = await _after(1, engine.ListToolCalls, "tool_calls", **fields)
    await engine.Append(session_id=session_id, messages=[called("b0", "b1")])
    seen += await all_of("tool_calls", engine.ListToolCalls, **fields, page_token=token)
    assert [call.call_id for call in seen] == [f"a{number}" for number in range(25)] + ["b0", "b1"]


async def test_sessions_that_move_come_and_go_while_paging_leave_no_doubles_and_no_holes(
    engine: Rpc, create: Create
) -> None:
    ranked = [await create() for _ in range(100)][::-1]
    seen, token = await _after(1, engine.ListSessions, "sessions", page_size=10)
    await engine.Append(session_id=ranked[34], messages=[said("now I am first")])
    new = await create()
    await engine.DeleteSession(session_id=ranked[11])
    seen += await all_of("sessions", engine.ListSessions, page_size=10, page_token=token)
    ids = [session.session_id for session in seen]
    assert len(set(ids)) == len(ids)
    assert new not in ids
    assert [session_id for session_id in ids if session_id != ranked[34]] == [
        session_id for session_id in ranked if session_id not in {ranked[11], ranked[34]}
    ]


@pytest.mark.parametrize("method", ["DeleteSession", "PurgeSession"])
async def test_a_page_of_a_session_that_went_meanwhile_is_not_found(
    engine: Rpc, call_as: As, create: Create, method: str
) -> None:
    session_id = await _hundred(create)
    _, token = await _after(1, engine.ListMessages, "messages", session_id=session_id, page_size=10)
    await getattr(call_as("a", "admin"), method)(session_id=session_id)
    refused = await refusal(engine.ListMessages(session_id=session_id, page_size=10, page_token=token))
    assert refused.what == (grpc.StatusCode.NOT_FOUND, "SESSION_NOT_FOUND")


async def test_a_list_whose_last_session_of_a_page_went_goes_on_behind_it(engine: Rpc, create: Create) -> None:
    ranked = [await create() for _ in range(30)][::-1]
    seen, token = await _after(1, engine.ListSessions, "sessions", page_size=10)
    await engine.DeleteSession(session_id=ranked[9])
    seen += await all_of("sessions", engine.ListSessions, page_size=10, page_token=token)
    assert [session.session_id for session in seen] == ranked


async def test_filters_page_without_doubles_and_holes_too(engine: Rpc, create: Create) -> None:
    session_id = await create()
    for number in range(30):
        role = ASSISTANT if number % 3 else USER
        await engine.Append(session_id=session_id, messages=[said(str(number), role=role)])
    found = await all_of("messages", engine.ListMessages, session_id=session_id, roles=[1], page_size=4)
    assert [message.parts[0].text for message in found] == [str(number) for number in range(0, 30, 3)]
    bounded = await all_of(
        "messages", engine.ListMessages, session_id=session_id, after_seq=5, before_seq=20, page_size=4, descending=True
    )
    assert [message.seq for message in bounded] == list(range(19, 5, -1))


async def test_a_token_opens_the_next_page_of_its_own_list_only(call_as: As, engine: Rpc, create: Create) -> None:
    session_id, other = await _hundred(create), await _hundred(create)
    fields: dict[str, Any] = {"session_id": session_id, "page_size": 10}
    _, token = await _after(1, engine.ListMessages, "messages", **fields)
    stolen: list[Any] = [
        engine.ListMessages(session_id=other, page_token=token),
        engine.ListMessages(session_id=session_id, descending=True, page_token=token),
        engine.ListMessages(session_id=session_id, after_seq=1, page_token=token),
        engine.ListMessages(session_id=session_id, roles=[1], page_token=token),
        engine.ListCommits(session_id=session_id, page_token=token),
        engine.ListToolCalls(session_id=session_id, page_token=token),
        engine.ListSessions(page_token=token),
        call_as("u1").ListMessages(session_id=session_id, page_token=token),
    ]
    for call in stolen:
        assert (await refusal(call)).what == REFUSED
    resized = await engine.ListMessages(session_id=session_id, page_size=7, page_token=token)
    assert [message.seq for message in resized.messages] == list(range(11, 18))


async def test_a_token_is_of_its_tenant_and_caller(call_as: As, engine: Rpc, create: Create) -> None:
    for _ in range(3):
        await create(session_id=fresh("same"))
    _, token = await _after(1, engine.ListSessions, "sessions", page_size=1)
    for caller in (call_as("engine-1", "engine", tenant=fresh("tenant")), call_as("u1"), call_as("u2")):
        assert (await refusal(caller.ListSessions(page_size=1, page_token=token))).what == REFUSED
    assert (await call_as("engine-9", "engine", server=1).ListSessions(page_size=1, page_token=token)).sessions


async def test_a_token_with_one_character_changed_is_refused(engine: Rpc, create: Create) -> None:
    session_id = await _hundred(create)
    _, token = await _after(1, engine.ListMessages, "messages", session_id=session_id, page_size=10)
    for place, character in enumerate(token):
        for flipped in {"A", "Q", "_"} - {character}:
            bad = token[:place] + flipped + token[place + 1 :]
            refused = await refusal(engine.ListMessages(session_id=session_id, page_size=10, page_token=bad))
            assert (refused.what, refused.field) == (REFUSED, "page_token")


@pytest.mark.parametrize(
    "token",
    ["x", "=", "é", "\x00", " ", "A" * 22, "A" * 100_000, base64.urlsafe_b64encode(b"0" * 16 + b"[1]").decode(), "🙂"],
)
async def test_what_is_no_token_is_refused(engine: Rpc, create: Create, token: str) -> None:
    session_id = await create()
    for method in ("ListMessages", "ListCommits", "ListToolCalls"):
        assert (await refusal(getattr(engine, method)(session_id=session_id, page_token=token))).what == REFUSED
    assert (await refusal(engine.ListSessions(page_token=token))).what == REFUSED
