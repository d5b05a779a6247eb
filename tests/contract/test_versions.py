"""CONTRACT 2: versions count commits, guards refuse what was computed from something else."""

import grpc
import pytest

from factories import called, keyed, patched, replaced, said
from support.every_change import CREATES, EVERY, UPDATES, ready_for, session_of
from support.rpc import Create, Rpc, field_refused, refusal

CONFLICT = (grpc.StatusCode.ABORTED, "VERSION_CONFLICT")
GUARDED = {
    "replace": replaced(goal="new"),
    "set": {"set": {"memory": {"goal": "new"}, "update_mask": {"paths": ["goal"]}}},
}
UNGUARDED = {"merge patch": patched('{"goal":"new"}'), "keys": keyed(k="1")}


@pytest.mark.parametrize("name", EVERY)
async def test_every_change_is_one_version_and_one_commit(engine: Rpc, create: Create, name: str) -> None:
    session_id = await ready_for(name, engine, create)
    request = EVERY[name].on(session_id)
    answer = await engine.send(request)
    session_id = answer.session.session_id if name in CREATES and "Create" in name[:6] else session_id
    session = await session_of(engine, session_id)
    # A deleted session's commits are listed when it is back.
    await engine.UndeleteSession(session_id=session_id)
    commits = (await engine.ListCommits(session_id=session_id)).commits[: session.version]
    assert session.version == answer.receipt.version == len(commits)
    assert [commit.version for commit in commits] == list(range(1, session.version + 1))
    assert answer.receipt.commit_time == session.update_time == commits[-1].commit_time


@pytest.mark.parametrize("name", UPDATES)
async def test_an_expected_version_is_compared_and_a_mismatch_stores_nothing(
    engine: Rpc, create: Create, name: str
) -> None:
    session_id = await ready_for(name, engine, create)
    before = (await engine.GetSession(session_id=session_id)).session
    for wrong in (0, before.version - 1, before.version + 1, 2**63 - 1):
        refused = await refusal(engine.send(UPDATES[name].on(session_id, expected_version=wrong)))
        assert refused.what == CONFLICT
        assert refused.metadata == {
            "expected_version": str(wrong),
            "current_version": str(before.version),
            "memory_version": str(before.memory_version),
            "last_seq": str(before.last_seq),
        }
    assert (await engine.GetSession(session_id=session_id)).session == before
    answer = await engine.send(UPDATES[name].on(session_id, expected_version=before.version))
    assert answer.receipt.version == before.version + 1


@pytest.mark.parametrize("name", UPDATES)
async def test_a_negative_version_is_refused_by_name(engine: Rpc, create: Create, name: str) -> None:
    session_id = await ready_for(name, engine, create)
    assert await field_refused(engine.send(UPDATES[name].on(session_id, expected_version=-1))) == "expected_version"


@pytest.mark.parametrize("change", GUARDED.values(), ids=GUARDED)
async def test_a_memory_change_computed_from_an_old_value_needs_a_guard(
    engine: Rpc, create: Create, change: object
) -> None:
    session_id = await create(memory={"goal": "old"})
    required = (grpc.StatusCode.INVALID_ARGUMENT, "EXPECTED_VERSION_REQUIRED")
    for call in (
        engine.UpdateMemory(session_id=session_id, change=change),
        engine.Append(session_id=session_id, messages=[said("hi")], memory_change=change),
    ):
        assert (await refusal(call)).what == required
    assert (await engine.GetSession(session_id=session_id)).session.version == 1
    await engine.UpdateMemory(session_id=session_id, change=change, expected_version=1)
    await engine.UpdateMemory(session_id=session_id, change=keyed("goal"))
    await engine.Append(session_id=session_id, memory_change=change, expected_memory_version=3)
    await engine.UpdateMemory(session_id=session_id, change=keyed("goal"))
    answer = await engine.Append(session_id=session_id, memory_change=change, force=True)
    assert (answer.receipt.version, answer.receipt.memory_version) == (6, 6)


@pytest.mark.parametrize("change", [*GUARDED.values(), *UNGUARDED.values()], ids=[*GUARDED, *UNGUARDED])
async def test_the_first_memory_needs_no_guard(engine: Rpc, create: Create, change: object) -> None:
    session_id = await create(messages=[said("hi")])
    await engine.UpdateMemory(session_id=session_id, change=change)
    other = await create()
    await engine.Append(session_id=other, memory_change=change)


@pytest.mark.parametrize("change", UNGUARDED.values(), ids=UNGUARDED)
async def test_a_change_that_names_all_it_changes_needs_no_guard_and_takes_one(
    engine: Rpc, create: Create, change: object
) -> None:
    session_id = await create(memory={"goal": "old"})
    refused = await refusal(engine.UpdateMemory(session_id=session_id, change=change, expected_memory_version=7))
    assert refused.what == CONFLICT
    await engine.UpdateMemory(session_id=session_id, change=change)


async def test_a_memory_that_was_emptied_still_needs_a_guard(engine: Rpc, create: Create) -> None:
    session_id = await create(memory={"goal": "old"})
    await engine.UpdateMemory(session_id=session_id, change=keyed("goal"))
    refused = await refusal(engine.UpdateMemory(session_id=session_id, change=replaced(goal="new")))
    assert refused.reason == "EXPECTED_VERSION_REQUIRED"


@pytest.mark.parametrize("field", ["labels", "metadata_json"])
async def test_labels_and_metadata_need_a_guard_and_a_title_does_not(engine: Rpc, create: Create, field: str) -> None:
    session_id = await create()
    new = {"session_id": session_id, "labels": {"a": "b"}, "metadata_json": "1", "title": "t"}
    refused = await refusal(engine.UpdateSession(session=new, update_mask={"paths": [field]}))
    assert refused.reason == "EXPECTED_VERSION_REQUIRED"
    await engine.UpdateSession(session=new, update_mask={"paths": ["title"]})
    await engine.UpdateSession(session=new, update_mask={"paths": [field]}, expected_version=2)


async def test_the_memory_guard_is_for_memory_alone(engine: Rpc, create: Create) -> None:
    session_id = await create(memory={"goal": "old"})
    await engine.Append(session_id=session_id, messages=[said("meanwhile"), called("c")])
    both = await refusal(
        engine.UpdateMemory(
            session_id=session_id, change=replaced(goal="new"), expected_memory_version=1, expected_version=1
        )
    )
    assert both.metadata["expected_version"] == "1"
    assert both.metadata["current_version"] == "2"
    receipt = (
        await engine.UpdateMemory(session_id=session_id, change=replaced(goal="new"), expected_memory_version=1)
    ).receipt
    assert (receipt.version, receipt.memory_version) == (3, 3)
    late = await refusal(
        engine.Append(session_id=session_id, memory_change=patched('{"k":1}'), expected_memory_version=1)
    )
    assert (late.what, late.metadata["memory_version"]) == (CONFLICT, "3")


async def test_version_0_is_for_a_session_that_is_not_there_yet(engine: Rpc, create: Create) -> None:
    session_id = await create()
    for wrong in (1, 2):
        refused = await refusal(
            engine.Append(session_id="not-yet", create_if_missing={}, expected_version=wrong, messages=[said("hi")])
        )
        assert (refused.what, refused.metadata["current_version"]) == (CONFLICT, "0")
    answer = await engine.Append(session_id="not-yet", create_if_missing={}, expected_version=0, messages=[said("hi")])
    assert answer.receipt.version == 1
    refused = await refusal(
        engine.Append(session_id=session_id, create_if_missing={}, expected_version=0, messages=[said("hi")])
    )
    assert (refused.what, refused.metadata["current_version"]) == (CONFLICT, "1")


async def test_what_changes_nothing_and_what_reads_move_no_version(engine: Rpc, create: Create) -> None:
    session_id = await create(memory={"goal": "g", "extra_json": '{"a":{"b":1.0}}'}, messages=[called("c")])
    await engine.UpdateToolCall(session_id=session_id, call_id="c", status=2)
    before = (await engine.GetSession(session_id=session_id)).session
    for change in (patched('{"goal":"g","a":{"b":1.0,"gone":null}}'), keyed("gone", goal='"g"'), patched("{}")):
        receipt = (await engine.UpdateMemory(session_id=session_id, change=change)).receipt
        assert (receipt.version, receipt.memory_version, receipt.replayed) == (2, 1, False)
    await engine.UpdateMemory(
        session_id=session_id, change=replaced(goal="g", extra_json='{"a":{"b":1.0}}'), expected_version=2
    )
    await engine.UpdateToolCall(session_id=session_id, call_id="c", status=2)
    await engine.RestoreSession(session_id=session_id)
    for method in ("GetSession", "GetContext", "GetMemory", "ListMessages", "ListCommits", "ListToolCalls"):
        await getattr(engine, method)(session_id=session_id)
    assert (await engine.GetSession(session_id=session_id)).session == before
