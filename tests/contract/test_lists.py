"""CONTRACT 14: lists, their filters, and the order that they come in."""

from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from factories import ASSISTANT, USER, called, said, texts_of
from lockstitch.v1.session_pb2 import SESSION_STATUS_ACTIVE, SESSION_STATUS_CLOSED
from support.databases import Database
from support.pages import all_of, pages_of
from support.rpc import Create, Rpc, field_refused

LISTS = ["ListMessages", "ListCommits", "ListToolCalls", "ListMemoryVersions"]
ENDS = (Timestamp(seconds=-62_135_596_800), Timestamp(seconds=253_402_300_799, nanos=999_999_999))


@pytest.mark.parametrize("method", [*LISTS, "ListSessions"])
async def test_page_sizes_have_a_default_a_most_and_are_not_negative(engine: Rpc, create: Create, method: str) -> None:
    session_id = await create()
    fields = {} if method == "ListSessions" else {"session_id": session_id}
    for size in (0, 1, 1000, 1001, 2**31 - 1):
        await getattr(engine, method)(**fields, page_size=size)
    for size in (-1, -(2**31)):
        assert await field_refused(getattr(engine, method)(**fields, page_size=size)) == "page_size"


async def test_a_page_of_0_is_50_and_one_of_more_is_1000(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[said(str(number)) for number in range(100)])
    for start in range(100, 1100, 100):
        await engine.Append(session_id=session_id, messages=[said(str(start + number)) for number in range(100)])
    assert len((await engine.ListMessages(session_id=session_id)).messages) == 50
    pages = await pages_of(engine.ListMessages, session_id=session_id, page_size=5000)
    assert [len(page.messages) for page in pages] == [1000, 100]
    assert {page.as_of_version for page in pages} == {11}
    got = await engine.GetSession(session_id=session_id, recent_messages=5000)
    assert [len(got.messages), got.messages[0].seq, got.messages[-1].seq] == [1000, 101, 1100]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50])
async def test_pages_of_any_size_join_to_the_whole(engine: Rpc, create: Create, size: int) -> None:
    session_id = await create(messages=[called("a", "b"), called("c")])
    for number in range(12):
        await engine.Append(
            session_id=session_id, messages=[said(str(number))], memory_change={"keys": {"set": {"k": str(number)}}}
        )
    on = {"session_id": session_id, "page_size": size}
    assert [m.seq for m in await all_of("messages", engine.ListMessages, **on)] == list(range(1, 15))
    assert [c.version for c in await all_of("commits", engine.ListCommits, **on)] == list(range(1, 14))
    assert [c.call_id for c in await all_of("tool_calls", engine.ListToolCalls, **on)] == ["a", "b", "c"]
    memories = await all_of("memories", engine.ListMemoryVersions, **on)
    assert [memory.version for memory in memories] == list(range(13, 1, -1))
    sessions = [await create() for _ in range(6)]
    listed = await all_of("sessions", engine.ListSessions, page_size=size)
    assert [session.session_id for session in listed] == [*sessions[::-1], session_id]


async def test_messages_are_bounded_by_seq_role_and_event_time(engine: Rpc, create: Create) -> None:
    session_id = await create()
    for number in range(1, 11):
        fields = {"event_time": Timestamp(seconds=1000 - number)} if number % 3 else {}
        role = USER if number % 2 else ASSISTANT
        await engine.Append(session_id=session_id, messages=[said(str(number), role=role, **fields)])

    async def listed(**fields: Any) -> list[int]:
        return [
            m.seq for m in await all_of("messages", engine.ListMessages, session_id=session_id, page_size=2, **fields)
        ]

    assert await listed(after_seq=3, before_seq=7) == [4, 5, 6]
    assert await listed(after_seq=3, before_seq=7, descending=True) == [6, 5, 4]
    assert await listed(after_seq=10) == await listed(before_seq=1) == await listed(after_seq=5, before_seq=3) == []
    assert await listed(after_seq=2**63 - 1) == []
    assert await listed(before_seq=2**63 - 1) == list(range(1, 11))
    assert await listed(roles=[ASSISTANT]) == [2, 4, 6, 8, 10]
    assert await listed(roles=[USER, ASSISTANT], descending=True) == list(range(10, 0, -1))
    assert await listed(event_after=Timestamp(seconds=996)) == [1, 2, 4]
    assert await listed(event_before=Timestamp(seconds=996)) == [5, 7, 8, 10]
    assert await listed(event_after=Timestamp(seconds=992), event_before=Timestamp(seconds=996), roles=[USER]) == [5, 7]
    assert await listed(event_after=ENDS[0], event_before=ENDS[1]) == [1, 2, 4, 5, 7, 8, 10]


@pytest.mark.parametrize(
    ("method", "field", "fields"),
    [
        ("ListMessages", "after_seq", {"after_seq": -1}),
        ("ListMessages", "before_seq", {"before_seq": -(2**63)}),
        ("ListMessages", "roles[1]", {"roles": [1, 0]}),
        ("ListMessages", "roles[0]", {"roles": [99]}),
        ("ListMessages", "event_after", {"event_after": Timestamp(seconds=2**62)}),
        ("ListMessages", "event_before", {"event_before": Timestamp(nanos=-1)}),
        ("ListCommits", "after_version", {"after_version": -1}),
        ("GetSession", "recent_messages", {"recent_messages": -1}),
        ("GetContext", "max_messages", {"max_messages": -1}),
        ("GetContext", "max_bytes", {"max_bytes": -1}),
        ("GetContext", "max_tokens", {"max_tokens": -(2**63)}),
        ("ListSessions", "statuses[0]", {"statuses": [0]}),
        ("ListSessions", "statuses[1]", {"statuses": [1, 99]}),
        ("ListSessions", "active_after", {"active_after": Timestamp(seconds=-(2**62))}),
        ("ListSessions", "created_before", {"created_before": Timestamp(seconds=1, nanos=10**9)}),
        ("ListSessions", "labels", {"labels": {str(number): "" for number in range(65)}}),
        ("ListSessions", "agent", {"agent": "x" * 129}),
    ],
)
async def test_a_bound_that_is_none_is_refused_by_name(
    engine: Rpc, create: Create, method: str, field: str, fields: dict[str, Any]
) -> None:
    named = {} if method == "ListSessions" else {"session_id": await create()}
    assert await field_refused(getattr(engine, method)(**named, **fields)) == field


async def test_sessions_are_narrowed_by_user_agent_status_and_labels(engine: Rpc, create: Create) -> None:
    await create(session_id="a", agent="x", labels={"env": "prod", "team": "1"})
    await create(session_id="b", agent="x", labels={"env": "prod"})
    await create(session_id="c", user_id="u2", labels={"env": "Prod"})
    await create(session_id="d", user_id="", agent="y")
    await engine.CloseSession(session_id="b")

    async def listed(**fields: Any) -> list[str]:
        return [s.session_id for s in await all_of("sessions", engine.ListSessions, page_size=1, **fields)]

    assert await listed() == ["d", "c", "b", "a"]
    assert await listed(user_id="u1") == ["b", "a"]
    assert await listed(agent="x", statuses=[SESSION_STATUS_ACTIVE]) == ["a"]
    assert await listed(statuses=[SESSION_STATUS_CLOSED, SESSION_STATUS_ACTIVE]) == ["d", "c", "b", "a"]
    assert await listed(labels={"env": "prod"}) == ["b", "a"]
    assert await listed(labels={"env": "prod", "team": "1"}) == ["a"]
    assert await listed(labels={"env": "prod", "team": "2"}) == await listed(labels={"env": ""}) == []
    update = {"session": {"session_id": "a", "labels": {"env": "dev"}}, "update_mask": {"paths": ["labels"]}}
    await engine.UpdateSession(**update, force=True)
    assert await listed(labels={"env": "prod"}) == ["b"]
    assert await listed(labels={"env": "dev"}) == ["a"]


async def test_sessions_are_narrowed_by_time_exactly(
    engine: Rpc, create: Create, shared_database: Database, tenant: str
) -> None:
    for number in range(6):
        await create(session_id=f"s{number}")
    await shared_database.as_superuser(
        f"""
        update lockstitch.sessions set
            create_time = to_timestamp(1000000000 + substr(session_id, 2)::integer),
            last_activity_time = to_timestamp(1100000000 + substr(session_id, 2)::integer),
            activity_minute = floor((1100000000 + substr(session_id, 2)::integer) / 60)
        where tenant_id = '{tenant}'
        """
    )

    async def listed(**fields: Any) -> list[str]:
        return [s.session_id for s in await all_of("sessions", engine.ListSessions, page_size=2, **fields)]

    at = [Timestamp(seconds=1_100_000_000 + number) for number in range(6)]
    made = [Timestamp(seconds=1_000_000_000 + number) for number in range(6)]
    assert await listed(active_after=at[2]) == ["s5", "s4", "s3", "s2"]
    assert await listed(active_before=at[2]) == ["s1", "s0"]
    assert await listed(active_after=at[1], active_before=at[3]) == ["s2", "s1"]
    assert await listed(created_after=made[4]) == ["s5", "s4"]
    assert await listed(created_before=made[1]) == ["s0"]
    assert await listed(active_after=ENDS[0], active_before=ENDS[1]) == await listed()
    assert await listed(created_after=ENDS[0], created_before=ENDS[1]) == await listed()
    assert await listed(active_after=ENDS[1]) == await listed(active_before=ENDS[0]) == []
    assert await listed(active_after=Timestamp(seconds=200_000_000_000)) == []


async def test_the_most_recently_used_comes_first(engine: Rpc, create: Create) -> None:
    ids = [await create() for _ in range(4)]
    await engine.Append(session_id=ids[1], messages=[said("hi")])
    await engine.GetContext(session_id=ids[0])
    await engine.CloseSession(session_id=ids[2])
    listed = [session.session_id for session in (await engine.ListSessions()).sessions]
    assert listed == [ids[1], ids[3], ids[2], ids[0]]


async def test_a_list_says_which_version_it_saw(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[said("a"), said("b")])
    first = await engine.ListMessages(session_id=session_id, page_size=1)
    await engine.Append(session_id=session_id, messages=[said("c")])
    second = await engine.ListMessages(session_id=session_id, page_size=1, page_token=first.next_page_token)
    assert [first.as_of_version, second.as_of_version] == [1, 2]
    assert texts_of([*first.messages, *second.messages]) == ["a", "b"]
