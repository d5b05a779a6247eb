"""CONTRACT 2, 3, 5, 6, 7 and 10: what holds of every change holds of those of checkpoints."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import grpc
import pytest

from factories import fresh, said
from lockstitch.v1.checkpoint_pb2 import Checkpoint, CheckpointRef
from lockstitch.v1.run_pb2 import RUN_STATUS_SUCCEEDED
from lockstitch.v1.run_service_pb2 import ON_BUSY_INTERRUPT
from support.checkpointed import ancestors, got, listed, put, value, write
from support.databases import Database
from support.pages import all_of
from support.rpc import As, Create, Refusal, Rpc, as_replayed, field_refused, outcome, refusal
from support.sizes import KIB
from support.streams import Reader
from support.waiting import until

Call = Callable[..., Awaitable[Any]]


def _put(rpc: Rpc, session_id: str, **fields: Any) -> Awaitable[Any]:
    return rpc.PutCheckpoint(session_id=session_id, checkpoint={"checkpoint_id": "new", "data": b"x"}, **fields)


def _put_writes(rpc: Rpc, session_id: str, **fields: Any) -> Awaitable[Any]:
    return rpc.PutCheckpointWrites(session_id=session_id, checkpoint_id="1", writes=[write("new")], **fields)


def _delete(rpc: Rpc, session_id: str, **fields: Any) -> Awaitable[Any]:
    return rpc.DeleteCheckpoints(session_id=session_id, all=True, **fields)


CHANGES: dict[str, Call] = {"put": _put, "put writes": _put_writes, "delete": _delete}
COMMITS = {name: CHANGES[name] for name in ("put", "delete")}


@pytest.fixture
async def session_id(engine: Rpc, create: Create) -> str:
    """A session at version 2 with a checkpoint."""
    made = await create(session_id=fresh("session"))
    await put(engine, made, "1", data=b"one", values=[value("c", "1", b"c1")], writes=[write()])
    return made


async def _state(rpc: Rpc, session_id: str) -> tuple[Any, list[Checkpoint], list[Any]]:
    """Give all that a change could have changed."""
    session = (await rpc.GetSession(session_id=session_id)).session
    checkpoints = await all_of("checkpoints", rpc.ListCheckpoints, session_id=session_id)
    return session, checkpoints, await all_of("commits", rpc.ListCommits, session_id=session_id)


# 3: a retry is not a second write.


@pytest.mark.parametrize("then", ["", "deleted", "closed", "replaced"])
async def test_a_retried_put_gets_the_same_receipt_field_for_field(
    engines: tuple[Rpc, Rpc], session_id: str, then: str
) -> None:
    engine, other = engines
    asked: dict[str, Any] = {"request_id": fresh("request"), "parent_id": "1", "values": [value("c", "1")]}
    first = await put(engine, session_id, "2", **asked, expected_version=2)
    if then == "deleted":
        await engine.DeleteCheckpoints(session_id=session_id, all=True)
    elif then == "replaced":
        await put(engine, session_id, "2", data=b"newer")
    elif then == "closed":
        await engine.CloseSession(session_id=session_id)
    before = await _state(engine, session_id)
    again = await put(other, session_id, "2", **asked, expected_version=1, fence={"run_id": "r", "fencing_token": 9})
    assert again == as_replayed(first)
    assert await _state(engine, session_id) == before


@pytest.mark.parametrize(
    "other",
    [
        {"data": b"other"},
        {"parent_id": "1"},
        {"namespace": "n"},
        {"metadata_json": '{"a":1}'},
        {"format": "f"},
        {"run_id": "r"},
        {"values": [value("c", "1")]},
        {"writes": [write()]},
        {"create_if_missing": {}},
    ],
)
async def test_the_same_request_id_with_other_content_is_refused(
    engine: Rpc, session_id: str, other: dict[str, Any]
) -> None:
    request_id = fresh("request")
    await put(engine, session_id, "2", request_id=request_id)
    before = await _state(engine, session_id)
    refused = await refusal(put(engine, session_id, "2", request_id=request_id, **other))
    assert refused.what == (grpc.StatusCode.FAILED_PRECONDITION, "REQUEST_ID_REUSED")
    for call in (engine.DeleteCheckpoints(session_id=session_id, all=True, request_id=request_id),):
        assert (await refusal(call)).reason == "REQUEST_ID_REUSED"
    appended = engine.Append(session_id=session_id, messages=[said("x")], request_id=request_id)
    assert (await refusal(appended)).reason == "REQUEST_ID_REUSED"
    assert await _state(engine, session_id) == before


async def test_a_put_that_creates_its_session_is_retried_likewise(engines: tuple[Rpc, Rpc]) -> None:
    session_id, request_id = fresh("new"), fresh("request")
    calls = [
        put(engines[turn % 2], session_id, "1", request_id=request_id, create_if_missing={"user_id": "u1"})
        for turn in range(8)
    ]
    receipts = await asyncio.gather(*calls)
    assert sorted(receipt.replayed for receipt in receipts) == [False] + [True] * 7
    assert {receipt.version for receipt in receipts} == {1}
    assert len((await engines[0].ListCommits(session_id=session_id)).commits) == 1


async def test_many_that_put_one_checkpoint_at_once_make_a_commit_each(
    engines: tuple[Rpc, Rpc], create: Create
) -> None:
    session_id = await create()
    calls = [put(engines[turn % 2], session_id, "1", data=str(turn).encode()) for turn in range(12)]
    receipts = await asyncio.gather(*calls)
    assert sorted(receipt.version for receipt in receipts) == list(range(2, 14))
    last = max(range(12), key=lambda turn: receipts[turn].version)
    assert (await got(engines[0], session_id)).data == str(last).encode()


async def test_of_many_with_one_expected_version_one_wins(engines: tuple[Rpc, Rpc], session_id: str) -> None:
    calls = [put(engines[turn % 2], session_id, f"{turn:02}", expected_version=2) for turn in range(12)]
    outcomes = await asyncio.gather(*(outcome(call) for call in calls))
    lost = [one for one in outcomes if isinstance(one, Refusal)]
    assert len(lost) == 11
    assert {one.reason for one in lost} == {"VERSION_CONFLICT"}
    assert len(await listed(engines[0], session_id=session_id)) == 2


@pytest.mark.parametrize("name", COMMITS)
async def test_a_version_is_compared_where_it_is_given(engine: Rpc, session_id: str, name: str) -> None:
    before = await _state(engine, session_id)
    for version in (0, 1, 3):
        refused = await refusal(COMMITS[name](engine, session_id, expected_version=version))
        assert refused.what == (grpc.StatusCode.ABORTED, "VERSION_CONFLICT")
        assert (refused.metadata["expected_version"], refused.metadata["current_version"]) == (str(version), "2")
    assert await field_refused(COMMITS[name](engine, session_id, expected_version=-1)) == "expected_version"
    assert await _state(engine, session_id) == before
    assert (await COMMITS[name](engine, session_id, expected_version=2)).receipt.version == 3


# 10: under the fence.


async def test_what_is_put_under_a_run_is_the_runs(engine: Rpc, session_id: str) -> None:
    run = (await engine.StartRun(session_id=session_id, worker="w")).run
    fence = {"run_id": run.run_id, "fencing_token": run.fencing_token}
    await put(engine, session_id, "2", fence=fence)
    await put(engine, session_id, "3", fence=fence, run_id=run.run_id)
    await _put_writes(engine, session_id, fence=fence)
    assert await listed(engine, session_id=session_id, run_id=run.run_id) == ["3", "2"]
    assert (await got(engine, session_id)).run_id == run.run_id
    other = put(engine, session_id, "4", fence=fence, run_id="another")
    assert await field_refused(other) == "checkpoint.run_id"
    commits = await all_of("commits", engine.ListCommits, session_id=session_id)
    assert [commit.run_id for commit in commits] == ["", "", "", run.run_id, run.run_id]


@pytest.mark.parametrize("name", CHANGES)
async def test_an_old_token_is_fenced(engines: tuple[Rpc, Rpc], session_id: str, name: str) -> None:
    engine, other = engines
    run = (await engine.StartRun(session_id=session_id)).run
    fence = {"run_id": run.run_id, "fencing_token": run.fencing_token}
    await CHANGES[name](engine, session_id, fence=fence)
    taken = (await other.StartRun(session_id=session_id, on_busy=ON_BUSY_INTERRUPT)).run
    before = await _state(engine, session_id)
    for token in (fence, fence | {"fencing_token": taken.fencing_token}, {"run_id": taken.run_id, "fencing_token": 99}):
        refused = await refusal(CHANGES[name](engine, session_id, fence=token))
        assert refused.what == (grpc.StatusCode.FAILED_PRECONDITION, "RUN_FENCED"), token
    unknown = {"run_id": fresh("run"), "fencing_token": 1}
    assert (await refusal(CHANGES[name](engine, session_id, fence=unknown))).reason == "RUN_NOT_FOUND"
    await engine.FinishRun(
        session_id=session_id,
        fence={"run_id": taken.run_id, "fencing_token": taken.fencing_token},
        status=RUN_STATUS_SUCCEEDED,
    )
    mine = {"run_id": taken.run_id, "fencing_token": taken.fencing_token}
    assert (await refusal(CHANGES[name](engine, session_id, fence=mine))).reason == "RUN_ENDED"
    after = await _state(engine, session_id)
    assert (after[1], after[2][:-1]) == (before[1], before[2])


# 7: lifecycle.


@pytest.mark.parametrize("name", CHANGES)
async def test_a_session_that_is_not_active_takes_none(
    engine: Rpc, session_id: str, name: str, shared_database: Database, tenant: str
) -> None:
    checkpoints = await all_of("checkpoints", engine.ListCheckpoints, session_id=session_id)
    await engine.CloseSession(session_id=session_id)
    assert (await refusal(CHANGES[name](engine, session_id))).reason == "SESSION_CLOSED"
    assert await all_of("checkpoints", engine.ListCheckpoints, session_id=session_id) == checkpoints
    assert await all_of("checkpoints", engine.ListCheckpoints) == checkpoints
    await engine.RestoreSession(session_id=session_id, ttl={"seconds": 3600})
    await shared_database.as_superuser(
        "update lockstitch.sessions set expire_time = now() - interval '1 s' where tenant_id = $1", tenant
    )
    assert (await refusal(CHANGES[name](engine, session_id))).reason == "SESSION_EXPIRED"
    assert await all_of("checkpoints", engine.ListCheckpoints, session_id=session_id) == checkpoints
    await engine.DeleteSession(session_id=session_id)
    assert (await refusal(CHANGES[name](engine, session_id))).reason == "SESSION_DELETED"


# Commits name checkpoints by ids and sizes.


async def test_commits_name_ids_and_sizes_in_the_list_and_on_the_stream(
    engine: Rpc, create: Create, shared_servers: Any, tenant: str
) -> None:
    session_id, target = await create(), await create()
    token = shared_servers[1].token(tenant=tenant, user="e", role="engine")
    async with Reader([shared_servers[1].target], token, session_id) as reader:
        await put(
            engine, session_id, "1", data=b"12345", values=[value("a", "1", b"123")], writes=[write(data=b"x" * 99)]
        )
        await put(engine, session_id, "2", namespace="n", values=[value("a", "1", b"1234567")])
        await put(engine, session_id, "3", data=b"1", values=[value("a", "1")])
        await _put_writes(engine, session_id)
        await engine.DeleteCheckpoints(session_id=session_id, keep_newest=1)
        await engine.Append(session_id=session_id, messages=[said("end")])
        await until(lambda: reader.versions[-1:] == [6], "the last commit")
        streamed = reader.commits
    commits = await all_of("commits", engine.ListCommits, session_id=session_id)
    assert [list(commit.checkpoints) for commit in commits] == [
        [],
        [CheckpointRef(checkpoint_id="1", bytes=8)],
        [CheckpointRef(checkpoint_id="2", namespace="n", bytes=7)],
        [CheckpointRef(checkpoint_id="3", bytes=1)],
        [CheckpointRef(checkpoint_id="1", deleted=True)],
        [],
    ]
    assert streamed == commits
    assert commits[1].principal.subject == "engine-1"
    await engine.CopyCheckpoints(session_id=session_id, target_session_id=target)
    copied = (await engine.ListCommits(session_id=target, after_version=1)).commits[0]
    assert [(one.namespace, one.checkpoint_id, one.deleted) for one in copied.checkpoints] == [
        ("", "3", False),
        ("n", "2", False),
    ]


# 5 and 6: who may do what.


async def _every_call(rpc: Rpc, session_id: str) -> list[Any]:
    """Give what each of the service's calls answers."""
    calls = [
        *(change(rpc, session_id) for change in CHANGES.values()),
        rpc.GetCheckpoint(session_id=session_id),
        rpc.ListCheckpoints(session_id=session_id),
        rpc.CopyCheckpoints(session_id=session_id, target_session_id=fresh("target")),
        rpc.CopyCheckpoints(session_id=fresh("source"), target_session_id=session_id),
    ]
    return [await outcome(call) for call in calls]


async def test_a_user_is_refused_everything(engine: Rpc, user: Rpc, session_id: str) -> None:
    before = await _state(engine, session_id)
    answers = [
        *await _every_call(user, session_id),
        await outcome(user.ListCheckpoints()),
        await outcome(put(user, fresh("new"), "1", create_if_missing={})),
    ]
    assert {answer.what for answer in answers} == {(grpc.StatusCode.PERMISSION_DENIED, "ROLE_NOT_ALLOWED")}
    assert await _state(engine, session_id) == before


async def test_an_admin_may_do_what_an_engine_may(call_as: As, session_id: str) -> None:
    admin = call_as("a", "admin")
    await put(admin, session_id, "2", parent_id="1")
    await _put_writes(admin, session_id)
    assert await ancestors(admin, session_id) == ["1"]
    assert (await _delete(admin, session_id)).deleted == 2


async def test_another_tenants_session_is_as_one_that_never_was(engine: Rpc, call_as: As, session_id: str) -> None:
    before = await _state(engine, session_id)
    stranger = call_as("e", "engine", tenant=fresh("tenant"))
    theirs, nobodys = await _every_call(stranger, session_id), await _every_call(stranger, fresh("session"))
    assert {answer.what for answer in theirs} == {(grpc.StatusCode.NOT_FOUND, "SESSION_NOT_FOUND")}
    assert {answer.details for answer in theirs} == {answer.details for answer in nobodys}
    assert len({answer.details for answer in theirs}) == 1
    assert await listed(stranger) == []
    assert await _state(engine, session_id) == before
    # The same id in another tenant is another session.
    await put(stranger, session_id, "1", data=b"theirs", create_if_missing={})
    assert await _state(engine, session_id) == before


# Bad input names its field, and nothing is stored.


@pytest.mark.parametrize(
    ("field", "bad"),
    [
        ("checkpoint.checkpoint_id", {"checkpoint_id": ""}),
        ("checkpoint.checkpoint_id", {"checkpoint_id": "x" * 129}),
        ("checkpoint.checkpoint_id", {"checkpoint_id": "a\nb"}),
        ("checkpoint.namespace", {"namespace": "x" * 129}),
        ("checkpoint.namespace", {"namespace": "\x00"}),
        ("checkpoint.parent_id", {"parent_id": "x" * 129}),
        ("checkpoint.parent_id", {"parent_id": "unknown"}),
        ("checkpoint.parent_id", {"parent_id": "2"}),
        ("checkpoint.run_id", {"run_id": "x" * 129}),
        ("checkpoint.format", {"format": "x" * 129}),
        ("checkpoint.format", {"format": "\x7f"}),
        ("checkpoint.metadata_json", {"metadata_json": "[]"}),
        ("checkpoint.metadata_json", {"metadata_json": "{"}),
        ("checkpoint.metadata_json", {"metadata_json": '{"a":NaN}'}),
        ("checkpoint.metadata_json", {"metadata_json": '{"a":"\\ud800"}'}),
        ("checkpoint.metadata_json", {"metadata_json": '{"a":' + "[" * 512 + "]" * 512 + "}"}),
        ("checkpoint.metadata_json", {"metadata_json": '{"a":"' + "x" * (64 * KIB) + '"}'}),
        ("checkpoint.values[0].channel", {"values": [{"version": "1", "data": b""}]}),
        ("checkpoint.values[1].channel", {"values": [value("a", "1", b""), value("x" * 129, "1", b"")]}),
        ("checkpoint.values[0].version", {"values": [{"channel": "a", "data": b""}]}),
        ("checkpoint.values[0].version", {"values": [value("a", "\t", b"")]}),
        ("checkpoint.values[0].format", {"values": [value("a", "1", b"", format="x" * 129)]}),
        ("checkpoint.values[0].data", {"values": [value("a", "1")]}),
    ],
)
async def test_bad_input_names_its_field_and_stores_nothing(
    engine: Rpc, session_id: str, field: str, bad: dict[str, Any]
) -> None:
    before = await _state(engine, session_id)
    checkpoint = {"checkpoint_id": "2", "data": b"x", "writes": [write("bad")]} | bad
    assert await field_refused(engine.PutCheckpoint(session_id=session_id, checkpoint=checkpoint)) == field
    new = fresh("new")
    assert (
        await field_refused(engine.PutCheckpoint(session_id=new, checkpoint=checkpoint, create_if_missing={})) == field
    )
    assert await _state(engine, session_id) == before
    assert (await refusal(engine.GetSession(session_id=new))).reason == "SESSION_NOT_FOUND"


async def test_what_is_required_is_asked_for(engine: Rpc, session_id: str) -> None:
    assert await field_refused(engine.PutCheckpoint(session_id=session_id)) == "checkpoint.checkpoint_id"
    assert await field_refused(_put(engine, "")) == "session_id"
    assert await field_refused(_put(engine, session_id, request_id="")) == "request_id"
    assert await field_refused(_put(engine, session_id, request_id="server:1")) == "request_id"
    assert await field_refused(_put(engine, session_id, fence={"fencing_token": 1})) == "fence.run_id"
    assert await field_refused(_put(engine, session_id, fence={"run_id": "r"})) == "fence.fencing_token"
    assert await field_refused(engine.PutCheckpointWrites(session_id=session_id, writes=[write()])) == "checkpoint_id"
    assert await field_refused(engine.GetCheckpoint(session_id=session_id, checkpoint_id="x" * 129)) == "checkpoint_id"
    assert await field_refused(engine.GetCheckpoint(session_id=session_id, namespace="\x00")) == "namespace"
    assert await field_refused(engine.GetCheckpoint()) == "session_id"
    many = [value(f"{number}", "1", b"") for number in range(1001)]
    refused = await refusal(put(engine, session_id, "2", values=many))
    assert refused.reason == "BATCH_TOO_LARGE"
    await put(engine, session_id, "2", values=many[:1000])
    assert len((await got(engine, session_id)).values) == 1000
