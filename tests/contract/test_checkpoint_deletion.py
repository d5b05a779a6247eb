"""CONTRACT 10: checkpoints are deleted, all, by run, or but the newest, with writes and unshared values."""

from typing import Any

import pytest

from factories import fresh
from support.checkpointed import got, listed, put, put_chain, value, write
from support.databases import Database
from support.rpc import As, Create, Rpc, as_replayed, field_refused, refusal

TABLES = ("checkpoints", "checkpoint_values", "checkpoint_writes")


async def _rows(database: Database, tenant: str) -> dict[str, int]:
    """Count the rows that lie in the database."""
    counted = {}
    for table in TABLES:
        rows = await database.as_superuser(f"select count(*) from lockstitch.{table} where tenant_id = $1", tenant)
        counted[table] = rows[0][0]
    return counted


@pytest.fixture
async def session_id(engine: Rpc, create: Create) -> str:
    """A session with six checkpoints in two namespaces, of two runs."""
    made = await create()
    for number in range(6):
        await put(
            engine,
            made,
            f"{number}",
            namespace=("", "n")[number % 2],
            run_id=("r1", "r2")[number // 2 % 2],
            values=[value("shared", "1", b"s"), value("own", f"{number}", b"o")],
            writes=[write(data=b"w")],
        )
    await engine.PutCheckpointWrites(session_id=made, checkpoint_id="9", writes=[write("early")])
    return made


async def test_all_are_deleted_and_nothing_is_left(
    engine: Rpc, session_id: str, shared_database: Database, tenant: str
) -> None:
    answer = await engine.DeleteCheckpoints(session_id=session_id, all=True)
    assert (answer.deleted, answer.receipt.version) == (6, 8)
    assert await listed(engine, session_id=session_id) == await listed(engine) == []
    assert (await refusal(got(engine, session_id))).reason == "CHECKPOINT_NOT_FOUND"
    assert await _rows(shared_database, tenant) == dict.fromkeys(TABLES, 0)


async def test_a_runs_are_deleted_with_what_nobody_shares(
    engine: Rpc, session_id: str, shared_database: Database, tenant: str
) -> None:
    answer = await engine.DeleteCheckpoints(session_id=session_id, run_id="r1")
    assert answer.deleted == 4
    assert await listed(engine, session_id=session_id) == ["3", "2"]
    for checkpoint_id, namespace in (("2", ""), ("3", "n")):
        stored = await got(engine, session_id, checkpoint_id, namespace=namespace)
        assert list(stored.values) == [value("shared", "1", b"s"), value("own", checkpoint_id, b"o")]
        assert list(stored.writes) == [write(data=b"w")]
    # Values are shared within a namespace; writes that come before their checkpoint wait for it.
    assert await _rows(shared_database, tenant) == {"checkpoints": 2, "checkpoint_values": 4, "checkpoint_writes": 3}


@pytest.mark.parametrize(("keep", "left"), [(1, "54"), (2, "5432"), (3, "543210"), (2**31 - 1, "543210")])
async def test_the_newest_of_each_namespace_are_kept(
    engine: Rpc, session_id: str, shared_database: Database, tenant: str, *, keep: int, left: str
) -> None:
    answer = await engine.DeleteCheckpoints(session_id=session_id, keep_newest=keep)
    assert answer.deleted == 6 - len(left)
    assert answer.receipt.version == (8 if answer.deleted else 7)
    assert await listed(engine, session_id=session_id) == list(left)
    rows = {"checkpoints": len(left), "checkpoint_values": len(left) + 2, "checkpoint_writes": len(left) + 1}
    assert await _rows(shared_database, tenant) == rows
    assert [one.channel for one in (await got(engine, session_id)).values] == ["shared", "own"]


async def test_what_is_shared_stays_until_the_last_that_names_it_goes(
    engine: Rpc, create: Create, shared_database: Database, tenant: str
) -> None:
    session_id = await create()
    await put(engine, session_id, "1", run_id="a", values=[value("c", "1", b"x")])
    await put(engine, session_id, "2", run_id="b", values=[value("c", "1")])
    await engine.DeleteCheckpoints(session_id=session_id, run_id="a")
    assert list((await got(engine, session_id)).values) == [value("c", "1", b"x")]
    await put(engine, session_id, "3", run_id="c", values=[value("c", "1")])
    await engine.DeleteCheckpoints(session_id=session_id, run_id="b")
    assert list((await got(engine, session_id)).values) == [value("c", "1", b"x")]
    await engine.DeleteCheckpoints(session_id=session_id, run_id="c")
    assert await _rows(shared_database, tenant) == dict.fromkeys(TABLES, 0)
    assert await field_refused(put(engine, session_id, "4", values=[value("c", "1")])) == "checkpoint.values[0].data"


@pytest.mark.parametrize("which", [{"run_id": "r9"}, {"keep_newest": 3}])
async def test_to_delete_what_is_not_there_changes_nothing(
    engine: Rpc, session_id: str, which: dict[str, Any], shared_database: Database, tenant: str
) -> None:
    before = await _rows(shared_database, tenant)
    request_id = fresh("request")
    answer = await engine.DeleteCheckpoints(session_id=session_id, request_id=request_id, **which)
    assert (answer.deleted, answer.receipt.version, answer.receipt.replayed) == (0, 7, False)
    assert await _rows(shared_database, tenant) == before
    assert len((await engine.ListCommits(session_id=session_id)).commits) == 7
    # No record was made: what comes of a repeat is judged anew.
    await put(engine, session_id, "8", run_id="r9")
    assert (await engine.DeleteCheckpoints(session_id=session_id, request_id=request_id, **which)).deleted == 1


async def test_all_of_a_session_without_checkpoints_changes_nothing(engine: Rpc, create: Create) -> None:
    session_id = await create()
    answer = await engine.DeleteCheckpoints(session_id=session_id, all=True)
    assert (answer.deleted, answer.receipt.version) == (0, 1)


async def test_a_retry_gets_the_same_answer(engine: Rpc, session_id: str) -> None:
    asked: dict[str, Any] = {"session_id": session_id, "request_id": fresh("request"), "run_id": "r1"}
    first = await engine.DeleteCheckpoints(**asked)
    await put(engine, session_id, "7", run_id="r1")
    again = await engine.DeleteCheckpoints(**asked, expected_version=1)
    assert (again.deleted, again.receipt) == (4, as_replayed(first.receipt))
    assert await listed(engine, session_id=session_id, run_id="r1") == ["7"]
    other = await refusal(engine.DeleteCheckpoints(**asked | {"run_id": "r2"}))
    assert other.reason == "REQUEST_ID_REUSED"


@pytest.mark.parametrize(
    ("field", "which"),
    [
        ("all", {}),
        ("all", {"all": False}),
        ("keep_newest", {"keep_newest": 0}),
        ("keep_newest", {"keep_newest": -1}),
        ("run_id", {"run_id": ""}),
        ("run_id", {"run_id": "x" * 129}),
    ],
)
async def test_which_ones_must_be_said(engine: Rpc, session_id: str, field: str, which: dict[str, Any]) -> None:
    assert await field_refused(engine.DeleteCheckpoints(session_id=session_id, **which)) == field
    assert len(await listed(engine, session_id=session_id)) == 6


async def test_more_than_a_commit_names_are_deleted_and_counted(engine: Rpc, create: Create) -> None:
    session_id = await create()
    await put_chain(engine, session_id, [f"{number:04}" for number in range(1101)])
    assert (await engine.DeleteCheckpoints(session_id=session_id, keep_newest=1)).deleted == 1100
    (commit,) = (await engine.ListCommits(session_id=session_id, after_version=1102)).commits
    assert len(commit.checkpoints) == 1000
    assert all(one.deleted for one in commit.checkpoints)


async def test_a_deleted_session_hides_its_checkpoints_and_a_purged_one_leaves_no_row(
    engine: Rpc, session_id: str, call_as: As, shared_database: Database, tenant: str
) -> None:
    before = await _rows(shared_database, tenant)
    await engine.DeleteSession(session_id=session_id)
    assert (await refusal(got(engine, session_id))).reason == "SESSION_NOT_FOUND"
    assert (await refusal(engine.ListCheckpoints(session_id=session_id))).reason == "SESSION_NOT_FOUND"
    assert await listed(engine) == await listed(engine, namespace="n", page_size=1) == []
    assert await _rows(shared_database, tenant) == before
    await engine.UndeleteSession(session_id=session_id)
    assert len(await listed(engine)) == 6
    await call_as("admin", "admin").PurgeSession(session_id=session_id)
    assert await _rows(shared_database, tenant) == dict.fromkeys(TABLES, 0)
    assert (await refusal(got(engine, session_id))).reason == "SESSION_NOT_FOUND"
    late = engine.PutCheckpointWrites(session_id=session_id, checkpoint_id="1", writes=[write()])
    assert (await refusal(late)).reason == "SESSION_NOT_FOUND"
    assert (await refusal(put(engine, session_id, "1", create_if_missing={}))).reason == "SESSION_NOT_FOUND"
