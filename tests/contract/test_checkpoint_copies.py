"""CONTRACT 10: checkpoints are copied with their values and writes, in one commit of the session they go to."""

import asyncio
from typing import Any

import pytest

from factories import fresh
from lockstitch.v1.checkpoint_pb2 import Checkpoint, CheckpointRef
from lockstitch.v1.session_service_pb2 import CreateIfMissing
from support.checkpointed import ANY_BYTES, got, listed, put, put_chain, value, write
from support.databases import Database
from support.pages import all_of
from support.rpc import As, Create, Rpc, as_replayed, field_refused, outcome, refusal


async def _all(rpc: Rpc, session_id: str) -> list[Checkpoint]:
    return await all_of("checkpoints", rpc.ListCheckpoints, session_id=session_id)


@pytest.fixture
async def source(engine: Rpc, create: Create) -> str:
    """A session with checkpoints of all kinds."""
    session_id = await create()
    await put(
        engine, session_id, "1", data=ANY_BYTES, values=[value("a", "1", b"a1"), value("b", "1", b"b1")], run_id="r"
    )
    await put(
        engine, session_id, "2", parent_id="1", values=[value("a", "1"), value("b", "2", b"b2")], writes=[write()]
    )
    await put(
        engine, session_id, "1", namespace="n", metadata_json='{"a": 1}', format="f", values=[value("a", "1", b"n1")]
    )
    await engine.PutCheckpointWrites(session_id=session_id, checkpoint_id="3", writes=[write("early")])
    return session_id


async def test_a_copy_has_everything(engine: Rpc, create: Create, source: str) -> None:
    target = await create()
    before = await _all(engine, source)
    answer = await engine.CopyCheckpoints(session_id=source, target_session_id=target)
    assert (answer.copied, answer.receipt.version, answer.receipt.replayed) == (3, 2, False)
    copies = await _all(engine, target)
    assert [one.version for one in copies] == [2, 2, 2]
    for copy, one in zip(copies, before, strict=True):
        copy.session_id, copy.version = one.session_id, one.version
        assert copy == one
    assert await _all(engine, source) == before
    assert (await engine.GetSession(session_id=source)).session.version == 4
    await put(engine, target, "3", parent_id="2", values=[value("a", "1"), value("b", "2")])
    assert [one.task_id for one in (await got(engine, target)).writes] == ["early"]
    assert await listed(engine, session_id=source) == ["2", "1", "1"]


async def test_a_copy_replaces_what_has_its_ids_and_leaves_the_rest(
    engine: Rpc, create: Create, source: str, shared_database: Database
) -> None:
    target = await create()
    await put(engine, target, "0", values=[value("a", "0", b"a0")], writes=[write("stays")])
    await put(engine, target, "1", parent_id="0", data=b"old", values=[value("x", "1", b"x1")], writes=[write("old")])
    await engine.CopyCheckpoints(session_id=source, target_session_id=target)
    stored = await got(engine, target, "1")
    assert (stored.parent_id, stored.data, list(stored.writes)) == ("", ANY_BYTES, [])
    kept = await got(engine, target, "0")
    assert (list(kept.values), list(kept.writes)) == ([value("a", "0", b"a0")], [write("stays")])
    assert await listed(engine, session_id=target) == ["2", "1", "1", "0"]
    values = "lockstitch.checkpoint_values join lockstitch.sessions using (session_key)"
    assert len(await shared_database.as_superuser(f"select from {values} where session_id = $1", target)) == 5


async def test_the_commit_of_a_copy_says_what_it_brought_a_value_with_the_first_that_has_it(
    engine: Rpc, create: Create, source: str
) -> None:
    target = await create()
    await put(engine, target, "0", values=[value("b", "1", b"b1")])
    await engine.CopyCheckpoints(session_id=source, target_session_id=target)
    (commit,) = (await engine.ListCommits(session_id=target, after_version=2)).commits
    assert list(commit.checkpoints) == [
        CheckpointRef(checkpoint_id="1", bytes=len(ANY_BYTES) + len(b"a1")),
        CheckpointRef(checkpoint_id="2", bytes=len(b"b2")),
        CheckpointRef(checkpoint_id="1", namespace="n", bytes=len(b"n1")),
    ]


async def test_a_copy_again_is_another_commit(engine: Rpc, create: Create, source: str) -> None:
    target = await create()
    first = await engine.CopyCheckpoints(session_id=source, target_session_id=target)
    second = await engine.CopyCheckpoints(session_id=source, target_session_id=target)
    assert (first.copied, second.copied) == (3, 3)
    assert second.receipt.version == first.receipt.version + 1


async def test_no_value_of_what_stays_is_changed_by_a_copy(engine: Rpc, create: Create, source: str) -> None:
    target = await create()
    await put(engine, target, "9", values=[value("a", "1", b"mine")])
    before = await _all(engine, target)
    copy = engine.CopyCheckpoints(session_id=source, target_session_id=target)
    assert await field_refused(copy) == "target_session_id"
    assert await _all(engine, target) == before
    # One that is replaced may have any value, and an equal one hinders nobody.
    await engine.DeleteCheckpoints(session_id=target, all=True)
    await put(engine, target, "2", values=[value("a", "1", b"mine")])
    await put(engine, target, "9", values=[value("b", "1", b"b1")])
    await engine.CopyCheckpoints(session_id=source, target_session_id=target)
    assert [one.data for one in (await got(engine, target, "2")).values] == [b"a1", b"b2"]
    assert [one.data for one in (await got(engine, target, "9")).values] == [b"b1"]


async def test_no_copy_closes_a_circle(engine: Rpc, create: Create) -> None:
    source, target = await create(), await create()
    await put(engine, source, "b", run_id="gone")
    await put(engine, source, "a", parent_id="b")
    await engine.DeleteCheckpoints(session_id=source, run_id="gone")
    await put_chain(engine, target, "acb")
    assert (
        await field_refused(engine.CopyCheckpoints(session_id=source, target_session_id=target)) == "target_session_id"
    )
    await engine.DeleteCheckpoints(session_id=target, all=True)
    await put_chain(engine, target, "cb")
    assert (await engine.CopyCheckpoints(session_id=source, target_session_id=target)).copied == 1


async def test_a_copy_creates_the_session_that_it_goes_to(engine: Rpc, source: str) -> None:
    target = fresh("target")
    asked: dict[str, Any] = {"session_id": source, "target_session_id": target}
    assert (await refusal(engine.CopyCheckpoints(**asked))).reason == "SESSION_NOT_FOUND"
    missing = {"user_id": "u7", "agent": "graph"}
    answer = await engine.CopyCheckpoints(**asked, create_if_missing=missing, expected_version=0)
    assert (answer.copied, answer.receipt.version) == (3, 1)
    session = (await engine.GetSession(session_id=target)).session
    assert (session.user_id, session.agent, session.version) == ("u7", "graph", 1)
    assert (await got(engine, target)).checkpoint_id == "2"


async def test_nothing_to_copy_changes_and_creates_nothing(engine: Rpc, create: Create) -> None:
    source, target = await create(), await create()
    answer = await engine.CopyCheckpoints(session_id=source, target_session_id=target)
    assert (answer.copied, answer.receipt.version) == (0, 1)
    new = fresh("target")
    await engine.CopyCheckpoints(session_id=source, target_session_id=new, create_if_missing={})
    assert (await refusal(engine.GetSession(session_id=new))).reason == "SESSION_NOT_FOUND"
    lost = engine.CopyCheckpoints(session_id=fresh("source"), target_session_id=new, create_if_missing={})
    assert (await refusal(lost)).reason == "SESSION_NOT_FOUND"
    assert (await refusal(engine.GetSession(session_id=new))).reason == "SESSION_NOT_FOUND"


async def test_what_is_copied_from_may_be_closed_but_not_deleted_and_the_target_must_be_active(
    engine: Rpc, create: Create, source: str
) -> None:
    target = await create()
    await engine.CloseSession(session_id=target)
    refused = await refusal(engine.CopyCheckpoints(session_id=source, target_session_id=target))
    assert refused.reason == "SESSION_CLOSED"
    await engine.RestoreSession(session_id=target)
    await engine.CloseSession(session_id=source)
    assert (await engine.CopyCheckpoints(session_id=source, target_session_id=target)).copied == 3
    await engine.DeleteSession(session_id=source)
    refused = await refusal(engine.CopyCheckpoints(session_id=source, target_session_id=target))
    assert refused.reason == "SESSION_NOT_FOUND"


async def test_no_copy_crosses_a_tenant(engine: Rpc, source: str, call_as: As) -> None:
    stranger = call_as("e", "engine", tenant=fresh("tenant"))
    own = (await stranger.CreateSession(user_id="u1")).session.session_id
    taken = await refusal(stranger.CopyCheckpoints(session_id=source, target_session_id=own))
    nowhere = await refusal(stranger.CopyCheckpoints(session_id=fresh("s"), target_session_id=own))
    given = await refusal(engine.CopyCheckpoints(session_id=source, target_session_id=own))
    assert taken.details == nowhere.details == given.details
    assert await listed(stranger) == []


async def test_a_copy_to_itself_is_refused(engine: Rpc, source: str) -> None:
    refused = engine.CopyCheckpoints(session_id=source, target_session_id=source)
    assert await field_refused(refused) == "target_session_id"
    assert await field_refused(engine.CopyCheckpoints(session_id=source)) == "target_session_id"


async def test_a_retry_gets_the_same_answer_whatever_came_since(engine: Rpc, create: Create, source: str) -> None:
    target = await create()
    asked = {"session_id": source, "target_session_id": target, "request_id": fresh("request")}
    first = await engine.CopyCheckpoints(**asked)
    await put(engine, source, "9")
    await engine.DeleteCheckpoints(session_id=target, all=True)
    await engine.CloseSession(session_id=target)
    again = await engine.CopyCheckpoints(**asked, expected_version=1)
    assert (again.copied, again.receipt) == (3, as_replayed(first.receipt))
    other = await refusal(engine.CopyCheckpoints(**asked | {"session_id": await create()}))
    assert other.reason == "REQUEST_ID_REUSED"


async def test_the_version_that_is_compared_is_the_targets(engine: Rpc, create: Create, source: str) -> None:
    target = await create()
    refused = await refusal(engine.CopyCheckpoints(session_id=source, target_session_id=target, expected_version=4))
    assert (refused.reason, refused.metadata["current_version"]) == ("VERSION_CONFLICT", "1")
    assert (await engine.CopyCheckpoints(session_id=source, target_session_id=target, expected_version=1)).copied == 3


async def test_copies_that_cross_wait_for_nobody(engines: tuple[Rpc, Rpc], create: Create) -> None:
    ends = [await create() for _ in range(3)]
    for number, session_id in enumerate(ends):
        await put_chain(engines[0], session_id, [f"{number} {step}" for step in range(20)], data=b"x" * 1000)
    crossing = [(engines[turn % 2], ends[turn % 3], ends[(turn + 1 + turn // 3 % 2) % 3]) for turn in range(24)]
    answers = await asyncio.gather(
        *(outcome(rpc.CopyCheckpoints(session_id=one, target_session_id=other)) for rpc, one, other in crossing),
        *(put(engines[turn % 2], ends[turn % 3], f"new {turn}") for turn in range(12)),
    )
    assert all(hasattr(answer, "DESCRIPTOR") for answer in answers), answers
    for session_id in ends:
        commits = await all_of("commits", engines[0].ListCommits, session_id=session_id)
        assert [commit.version for commit in commits] == list(range(1, len(commits) + 1))
        assert len(commits) == 1 + 20 + 8 + 4
        assert {f"{number} {step}" for number in range(3) for step in range(20)} <= set(
            await listed(engines[1], session_id=session_id)
        )


async def test_a_session_whose_time_to_be_purged_has_come_is_gone_for_who_would_create_it(
    engine: Rpc, create: Create, source: str, shared_database: Database
) -> None:
    target = await create()
    await engine.DeleteSession(session_id=target)
    await shared_database.as_superuser(
        "update lockstitch.sessions set purge_time = now() - interval '1 hour' where session_id = $1", target
    )
    missing = CreateIfMissing(user_id="somebody")
    copy = engine.CopyCheckpoints(session_id=source, target_session_id=target, create_if_missing=missing)
    assert (await refusal(copy)).reason == "SESSION_NOT_FOUND"
    assert (await refusal(put(engine, target, "1", create_if_missing=missing))).reason == "SESSION_NOT_FOUND"
