"""Case A23: concurrent edits of different keys of working memory all survive."""

import asyncio
import json
from typing import Any

import pytest

from factories import fresh, keyed, patched, replaced, said
from support.rpc import Create, Refusal, Rpc, outcome

START = '{"name":"A","tone":"brief"}'


async def _memory(engine: Rpc, session_id: str) -> Any:
    return json.loads((await engine.GetMemory(session_id=session_id)).memory.extra_json)


async def test_patches_of_different_keys_from_two_servers_all_survive(engines: tuple[Rpc, Rpc], create: Create) -> None:
    session_id = await create(memory={"extra_json": START})
    two = ['{"name":"B"}', '{"tone":"long"}']
    fifty = [f'{{"k{number}":{number}}}' for number in range(1, 51)]
    for patches in (two, fifty):
        await asyncio.gather(
            *(
                engines[number % 2].UpdateMemory(session_id=session_id, change=patched(patch))
                for number, patch in enumerate(patches)
            )
        )
    expected = {"name": "B", "tone": "long"} | {f"k{number}": number for number in range(1, 51)}
    assert await _memory(engines[0], session_id) == expected
    assert (await engines[0].GetSession(session_id=session_id)).session.version == 53


async def test_patches_into_one_nested_object_all_survive(engines: tuple[Rpc, Rpc], create: Create) -> None:
    session_id = await create(memory={"extra_json": '{"a":{"b":{"kept":[1.0,1e3]}}}'})
    answers = await asyncio.gather(
        *(
            engines[number % 2].UpdateMemory(
                session_id=session_id, change=patched(f'{{"a":{{"b":{{"k{number}":{number}}}}}}}')
            )
            for number in range(40)
        )
    )
    assert sorted(answer.receipt.version for answer in answers) == list(range(2, 42))
    memory = (await engines[0].GetMemory(session_id=session_id)).memory
    assert memory.extra_json.startswith('{"a":{"b":{"kept":[1.0,1e3]')
    assert json.loads(memory.extra_json)["a"]["b"] == {"kept": [1.0, 1e3]} | {f"k{n}": n for n in range(40)}


async def test_a_patch_and_a_key_change_of_the_same_object_are_one_after_the_other(
    engines: tuple[Rpc, Rpc], create: Create
) -> None:
    for _ in range(20):
        session_id = await create(memory={"extra_json": '{"a":{"b":1}}'})
        await asyncio.gather(
            engines[0].UpdateMemory(session_id=session_id, change=patched('{"a":{"c":2}}')),
            engines[1].UpdateMemory(session_id=session_id, change=keyed(a='{"z":0}')),
        )
        assert await _memory(engines[0], session_id) in ({"a": {"z": 0}}, {"a": {"z": 0, "c": 2}})


@pytest.mark.parametrize("guard", ["expected_version", "expected_memory_version"])
async def test_of_two_replacements_with_one_guard_one_wins(
    engines: tuple[Rpc, Rpc], create: Create, guard: str
) -> None:
    for _ in range(20):
        session_id = await create(memory={"extra_json": START})
        outcomes = await asyncio.gather(
            *(
                outcome(engine.UpdateMemory(session_id=session_id, change=replaced(goal=goal), **{guard: 1}))
                for engine, goal in zip(engines, ("one", "two"), strict=True)
            )
        )
        (lost,) = [each for each in outcomes if isinstance(each, Refusal)]
        assert lost.reason == "VERSION_CONFLICT"
        (won,) = [each for each in outcomes if not isinstance(each, Refusal)]
        assert (await engines[0].GetMemory(session_id=session_id)).memory == won.memory


async def test_one_patch_sent_twice_is_one_step(engines: tuple[Rpc, Rpc], create: Create) -> None:
    session_id = await create(memory={"extra_json": START})
    request_id = fresh()
    answers = await asyncio.gather(
        *(
            engines[number % 2].UpdateMemory(
                session_id=session_id, request_id=request_id, change=patched('{"n":{"x":1}}')
            )
            for number in range(10)
        )
    )
    assert {answer.receipt.version for answer in answers} == {2}
    assert [answer.receipt.replayed for answer in answers].count(False) == 1
    assert len({answer.memory.extra_json for answer in answers}) == 1
    assert len((await engines[0].ListCommits(session_id=session_id)).commits) == 2


async def test_a_message_does_not_refuse_a_guarded_memory_update(engines: tuple[Rpc, Rpc], create: Create) -> None:
    session_id = await create(memory={"extra_json": START})
    await engines[1].Append(session_id=session_id, messages=[said("meanwhile")])
    answer = await engines[0].UpdateMemory(session_id=session_id, change=replaced(goal="g"), expected_memory_version=1)
    assert answer.receipt.version == answer.memory.version == 3
