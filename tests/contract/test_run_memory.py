"""CONTRACT 8: a run's own memory, beside the session's: its own versions, guards, history and end."""

import asyncio
import json
from typing import Any

import grpc
import pytest

from factories import keyed, patched, replaced, said
from lockstitch.v1.run_pb2 import Run
from support.rpc import Create, Rpc, field_refused, refusal
from support.running import DONE, ENDED, INTERRUPT, NO_RUN, fence_of, started

REQUIRED = (grpc.StatusCode.INVALID_ARGUMENT, "EXPECTED_VERSION_REQUIRED")


async def _running(engine: Rpc, create: Create) -> tuple[str, Run]:
    session_id = await create(memory={"goal": "the session's"})
    return session_id, await started(engine, session_id, run_id="r")


async def _of_run(engine: Rpc, session_id: str, run_id: str = "r", **fields: Any) -> Any:
    return (await engine.GetMemory(session_id=session_id, run_id=run_id, **fields)).memory


async def test_a_runs_memory_is_its_own(engines: tuple[Rpc, Rpc], create: Create) -> None:
    engine, other = engines
    session_id, _ = await _running(engine, create)
    empty = await _of_run(engine, session_id)
    assert (empty.goal, empty.extra_json, empty.version) == ("", "", 0)
    first = await engine.UpdateMemory(session_id=session_id, run_id="r", change=replaced(goal="the run's", plan=["a"]))
    assert (first.memory.goal, first.memory.version, first.receipt.version) == ("the run's", 3, 3)
    # The receipt's memory_version is the session's, which did not move.
    assert first.receipt.memory_version == 1
    session = (await engine.GetSession(session_id=session_id, include_memory=True)).session
    assert session.memory_version == 1
    assert (await other.GetMemory(session_id=session_id)).memory.goal == "the session's"
    assert await _of_run(other, session_id) == first.memory
    await engine.UpdateMemory(session_id=session_id, change=keyed(goal='"changed"'))
    assert await _of_run(other, session_id) == first.memory
    (commit,) = (await engine.ListCommits(session_id=session_id, after_version=2)).commits[:1]
    assert (commit.memory_run_id, commit.memory.replace.goal) == ("r", "the run's")
    (commit,) = (await engine.ListCommits(session_id=session_id, after_version=3)).commits
    assert (commit.memory_run_id, commit.HasField("memory")) == ("", True)


async def test_two_runs_do_not_see_each_others_memory(engine: Rpc, create: Create) -> None:
    session_id, _ = await _running(engine, create)
    await engine.UpdateMemory(session_id=session_id, run_id="r", change=patched('{"k":1}'))
    await started(engine, session_id, run_id="s", on_busy=INTERRUPT)
    assert (await _of_run(engine, session_id, "s")).version == 0
    await engine.UpdateMemory(session_id=session_id, run_id="s", change=replaced(extra_json='{"k":2}'))
    assert (await _of_run(engine, session_id, "r")).extra_json == '{"k":1}'
    assert (await _of_run(engine, session_id, "s")).extra_json == '{"k":2}'
    for run_id, version in (("r", 3), ("s", 5)):
        (only,) = (await engine.ListMemoryVersions(session_id=session_id, run_id=run_id)).memories
        assert only == await _of_run(engine, session_id, run_id)
        assert only.version == version
    (own,) = (await engine.ListMemoryVersions(session_id=session_id)).memories
    assert own.goal == "the session's"


@pytest.mark.parametrize(
    "change",
    [replaced(goal="new"), {"set": {"memory": {"goal": "new"}, "update_mask": {"paths": ["goal"]}}}],
    ids=["replace", "set"],
)
async def test_it_is_guarded_by_its_own_version_or_the_sessions_or_the_fence(
    engine: Rpc, create: Create, change: Any
) -> None:
    session_id, run = await _running(engine, create)
    on: dict[str, Any] = {"session_id": session_id, "run_id": "r"}
    await engine.UpdateMemory(**on, change=change)
    await engine.UpdateMemory(**on, change=keyed("goal"))
    assert (await refusal(engine.UpdateMemory(**on, change=change))).what == REQUIRED
    for wrong in (0, 1, 3, 5):
        refused = await refusal(engine.UpdateMemory(**on, change=change, expected_memory_version=wrong))
        assert (refused.reason, refused.metadata["memory_version"]) == ("VERSION_CONFLICT", "4")
        assert (refused.metadata["expected_version"], refused.metadata["current_version"]) == (str(wrong), "4")
    await engine.Append(session_id=session_id, messages=[said("meanwhile")])
    assert (await engine.UpdateMemory(**on, change=change, expected_memory_version=4)).memory.version == 6
    await engine.UpdateMemory(**on, change=keyed("goal"))
    assert (await engine.UpdateMemory(**on, change=change, expected_version=7)).memory.version == 8
    await engine.UpdateMemory(**on, change=keyed("goal"))
    assert (await engine.UpdateMemory(**on, change=change, fence=fence_of(run))).memory.version == 10
    await engine.UpdateMemory(**on, change=keyed("goal"))
    assert (await engine.UpdateMemory(**on, change=change, force=True)).memory.version == 12


async def test_merge_patches_and_keys_change_it_as_they_do_the_sessions(engine: Rpc, create: Create) -> None:
    session_id, _ = await _running(engine, create)
    on: dict[str, Any] = {"session_id": session_id, "run_id": "r"}
    await engine.UpdateMemory(**on, change=replaced(goal="g", extra_json='{"a":{"b":1.0,"c":{"d":1e3}},"z":[1]}'))
    merged = await engine.UpdateMemory(**on, change=patched('{"a":{"c":{"d":null,"e":0}},"goal":null,"z":[]}'))
    assert merged.memory.goal == ""
    assert merged.memory.extra_json == '{"a":{"b":1.0,"c":{"e":0}},"z":[]}'
    changed = await engine.UpdateMemory(**on, change=keyed("z", a="null"))
    assert changed.memory.extra_json == '{"a":null}'
    nothing = await engine.UpdateMemory(**on, change=patched('{"gone":null}'))
    assert (nothing.memory, nothing.receipt.version) == (changed.memory, changed.receipt.version)
    assert (await engine.GetMemory(session_id=session_id)).memory.goal == "the session's"


async def test_patches_of_nested_values_at_once_on_two_servers_are_all_kept(
    engines: tuple[Rpc, Rpc], create: Create
) -> None:
    session_id, _ = await _running(engines[0], create)
    on: dict[str, Any] = {"session_id": session_id, "run_id": "r"}
    await engines[0].UpdateMemory(**on, change=patched('{"a":{}}'))
    await asyncio.gather(
        *(engines[n % 2].UpdateMemory(**on, change=patched(f'{{"a":{{"k{n}":{n}}}}}')) for n in range(20))
    )
    kept = json.loads((await _of_run(engines[1], session_id)).extra_json)
    assert kept == {"a": {f"k{n}": n for n in range(20)}}
    assert len((await engines[0].ListMemoryVersions(session_id=session_id, run_id="r")).memories) == 21
    assert (await engines[0].GetMemory(session_id=session_id)).memory.extra_json == ""


async def test_its_past_is_read_and_listed(engine: Rpc, create: Create) -> None:
    session_id, _ = await _running(engine, create)
    for number in range(4):
        await engine.UpdateMemory(session_id=session_id, run_id="r", change=patched(f'{{"n":{number}}}'))
        await engine.UpdateMemory(session_id=session_id, change=patched(f'{{"n":"session {number}"}}'))
    seen = [
        (memory.version, memory.extra_json)
        for version in range(1, 11)
        for memory in [await _of_run(engine, session_id, at_version=version)]
    ]
    assert seen == [
        (0, ""),
        (0, ""),
        *((3 + 2 * (place // 2), f'{{"n":{place // 2}}}') for place in range(8)),
    ]
    ahead = await refusal(engine.GetMemory(session_id=session_id, run_id="r", at_version=11))
    assert ahead.reason == "CURSOR_AHEAD"
    listed, token = [], ""
    while True:
        page = await engine.ListMemoryVersions(session_id=session_id, run_id="r", page_size=3, page_token=token)
        listed += [memory.version for memory in page.memories]
        if not (token := page.next_page_token):
            break
    assert listed == [9, 7, 5, 3]
    first = await engine.ListMemoryVersions(session_id=session_id, run_id="r", page_size=3)
    stolen = engine.ListMemoryVersions(session_id=session_id, page_size=3, page_token=first.next_page_token)
    assert (await refusal(stolen)).reason == "PAGE_TOKEN_INVALID"


async def test_its_history_is_erased_alone(engine: Rpc, create: Create) -> None:
    session_id, _ = await _running(engine, create)
    on: dict[str, Any] = {"session_id": session_id, "run_id": "r"}
    await engine.UpdateMemory(session_id=session_id, change=patched('{"k":"secret-4417"}'))
    await engine.UpdateMemory(**on, change=patched('{"k":"secret-5519","l":1}'))
    await engine.UpdateMemory(**on, change=patched('{"k":"clean"}'), erase_history=True)
    then = await _of_run(engine, session_id, at_version=4)
    assert "secret" not in str(then)
    assert '"l":1' in then.extra_json
    commits = (await engine.ListCommits(session_id=session_id)).commits
    assert ["secret-5519" in str(commit) for commit in commits] == [False] * 5
    assert [commit.erased for commit in commits] == [False, False, False, True, False]
    assert "secret-4417" in str(commits[2])
    kept = (await engine.GetMemory(session_id=session_id, at_version=4)).memory
    assert kept.extra_json == '{"k":"secret-4417"}'


@pytest.mark.parametrize("how", ["finished", "cancelled", "taken over"])
async def test_after_its_run_it_is_read_and_not_written(engine: Rpc, create: Create, how: str) -> None:
    session_id, run = await _running(engine, create)
    await engine.UpdateMemory(session_id=session_id, run_id="r", change=patched('{"k":1}'))
    if how == "finished":
        await engine.FinishRun(session_id=session_id, fence=fence_of(run), status=DONE)
    elif how == "cancelled":
        await engine.CancelRun(session_id=session_id, run_id="r", now=True)
    else:
        await started(engine, session_id, on_busy=INTERRUPT)
    assert (await _of_run(engine, session_id)).extra_json == '{"k":1}'
    before = (await engine.GetSession(session_id=session_id)).session
    for fields in (
        {"change": patched('{"k":2}')},
        {"change": patched('{"k":{"deep":2}}')},
        {"change": replaced(goal="x"), "expected_memory_version": 3},
        {"change": replaced(goal="x"), "force": True},
        {"change": keyed("k"), "expected_memory_version": 77},
        {"change": keyed("k"), "erase_history": True},
    ):
        refused = await refusal(engine.UpdateMemory(session_id=session_id, run_id="r", **fields))
        assert (refused.what, refused.metadata) == (ENDED, {"run_id": "r"})
    assert (await engine.GetSession(session_id=session_id)).session == before
    assert len((await engine.ListMemoryVersions(session_id=session_id, run_id="r")).memories) == 1


async def test_a_memory_of_no_run_is_not_found(engine: Rpc, create: Create) -> None:
    session_id, _ = await _running(engine, create)
    for call in (
        engine.UpdateMemory(session_id=session_id, run_id="never-was", change=patched('{"k":1}')),
        engine.UpdateMemory(session_id=session_id, run_id="R", change=patched('{"k":{"deep":1}}')),
        engine.GetMemory(session_id=session_id, run_id="never-was"),
        engine.GetMemory(session_id=session_id, run_id="never-was", at_version=1),
        engine.ListMemoryVersions(session_id=session_id, run_id="never-was"),
    ):
        assert (await refusal(call)).what == NO_RUN
    assert await field_refused(engine.GetMemory(session_id=session_id, run_id="x" * 129)) == "run_id"


async def test_its_size_is_its_own(engine: Rpc, create: Create) -> None:
    session_id, _ = await _running(engine, create)
    large = keyed(k=f'"{"x" * 900_000}"')
    await engine.UpdateMemory(session_id=session_id, change=large)
    await engine.UpdateMemory(session_id=session_id, run_id="r", change=large)
    more = keyed(l=f'"{"x" * 200_000}"')
    for on in ({}, {"run_id": "r"}):
        refused = await refusal(engine.UpdateMemory(session_id=session_id, change=more, **on))
        assert refused.what == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD")
    await engine.UpdateMemory(session_id=session_id, run_id="r", change=keyed("k"))
    await engine.UpdateMemory(session_id=session_id, run_id="r", change=more)
