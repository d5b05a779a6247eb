"""Working memory changes as its changes say, and keeps the bytes of all else."""

import asyncio
import json

from google.protobuf.field_mask_pb2 import FieldMask

from lockstitch.v1.session_service_pb2 import GetMemoryRequest, UpdateMemoryRequest
from lockstitch.v1.working_memory_pb2 import MemoryChange, MemorySet, WorkingMemory
from lockstitch_conformance.contents import fence, keys, patch
from lockstitch_conformance.refusals import refused
from lockstitch_conformance.suite import Category, holds, same
from lockstitch_conformance.world import World

CATEGORY = Category("memory", "working memory changes as its changes say, and keeps the bytes of all else")


async def _changed(world: World, session_id: str, change: MemoryChange) -> WorkingMemory:
    request = UpdateMemoryRequest(session_id=session_id, change=change, force=True)
    memory: WorkingMemory = (await world.engine(request)).memory
    return memory


@CATEGORY.promise("A merge patch deletes what it gives as null, at every depth, on the first write too.")
async def null_deletes(world: World) -> None:
    session_id = await world.engine.create()
    memory = await _changed(world, session_id, patch('{"goal":null,"a":{"b":null,"c":1}}'))
    holds(not memory.HasField("goal"), "the goal is there")
    same(json.loads(memory.extra_json), {"a": {"c": 1}}, "the extra keys")
    memory = await _changed(world, session_id, patch('{"a":{"c":null,"d":{"e":null}}}'))
    same(json.loads(memory.extra_json), {"a": {"d": {}}}, "the extra keys after a second patch")


@CATEGORY.promise("A merge patch replaces arrays whole; empty values are values.")
async def arrays_and_empty_values(world: World) -> None:
    session_id = await world.engine.create()
    await _changed(world, session_id, patch('{"plan":["a","b"],"goal":"g","n":1}'))
    memory = await _changed(world, session_id, patch('{"plan":["c"],"goal":"","n":0,"f":false,"l":[],"o":{}}'))
    same(list(memory.plan), ["c"], "the plan")
    same((memory.HasField("goal"), memory.goal), (True, ""), "the goal")
    same(json.loads(memory.extra_json), {"n": 0, "f": False, "l": [], "o": {}}, "the extra keys")


@CATEGORY.promise("A change keeps the bytes of every value that it does not touch.")
async def untouched_bytes(world: World) -> None:
    session_id = await world.engine.create()
    value = '{ "z" : 1e3, "a": [1.0, -0.0], "big": 9007199254740993123, "z": 2 }'
    await _changed(world, session_id, keys({"kept": value}))
    await _changed(world, session_id, patch('{"goal":"g","other":1}'))
    memory = await _changed(world, session_id, keys(None, "other"))
    holds(value in memory.extra_json, f"{value} became {memory.extra_json}")


@CATEGORY.promise("`keys` sets top-level keys, null among the values, and deletes those that it names.")
async def keys_set_and_delete(world: World) -> None:
    session_id = await world.engine.create()
    await _changed(world, session_id, patch('{"goal":"g","a":1,"b":2}'))
    memory = await _changed(world, session_id, keys({"b": "null", "c": "3"}, "a", "goal"))
    holds(not memory.HasField("goal"), "the goal is there")
    same(json.loads(memory.extra_json), {"b": None, "c": 3}, "the extra keys")


@CATEGORY.promise(
    "`set` changes the fields in its mask, and deletes those that are absent; `replace` leaves nothing else."
)
async def set_and_replace(world: World) -> None:
    session_id = await world.engine.create()
    await _changed(world, session_id, patch('{"goal":"g","plan":["a"],"next_action":"n","x":1}'))
    part = MemorySet(memory=WorkingMemory(goal="G"), update_mask=FieldMask(paths=["goal", "plan"]))
    memory = await _changed(world, session_id, MemoryChange(set=part))
    same((memory.goal, list(memory.plan), memory.next_action), ("G", [], "n"), "goal, plan, next action")
    memory = await _changed(world, session_id, MemoryChange(replace=WorkingMemory(plan=["p"])))
    same((memory.HasField("goal"), list(memory.plan), memory.extra_json), (False, ["p"], ""), "what replaced it")


@CATEGORY.promise("Patches of different keys at the same time lose nothing of each other, nested ones neither.")
async def patches_at_once(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    changes = [patch(f'{{"shared":{{"k{number}":{number}}},"own{number}":{number}}}') for number in range(6)]
    await asyncio.gather(*(engine(UpdateMemoryRequest(session_id=session_id, change=change)) for change in changes))
    found = json.loads((await engine.memory(session_id)).extra_json)
    same(found.pop("shared"), {f"k{number}": number for number in range(6)}, "the shared key")
    same(found, {f"own{number}": number for number in range(6)}, "the other keys")


@CATEGORY.promise("A change in an Append commits with its messages, or not at all.")
async def with_an_append(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    receipt = await engine.append(session_id, "a", memory_change=patch('{"goal":"g"}'))
    same((receipt.version, receipt.memory_version), (2, 2), "the versions")
    late = engine.append(session_id, "b", memory_change=patch('{"goal":"h"}'), expected_version=1)
    await refused(late, "VERSION_CONFLICT")
    same((await engine.memory(session_id)).goal, "g", "the goal")


@CATEGORY.promise("What is not well-formed, or of another type than its key has, is refused.")
async def malformed(world: World) -> None:
    session_id = await world.engine.create()
    for change in ("{", "[]", '{"goal":1}', '{"plan":"x"}', '{"a":NaN}', '{"a":"\\ud800"}'):
        request = UpdateMemoryRequest(session_id=session_id, change=patch(change))
        await refused(world.engine(request), "INVALID_FIELD")
    same((await world.engine.get(session_id)).memory_version, 0, "memory_version")


@CATEGORY.promise("A run may have a memory of its own, which is not the session's.")
async def a_runs_own(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    run = await engine.run(session_id)
    change = UpdateMemoryRequest(
        session_id=session_id, run_id=run.run_id, fence=fence(run), change=patch('{"goal":"the run\'s"}')
    )
    await engine(change)
    own = await engine(GetMemoryRequest(session_id=session_id, run_id=run.run_id))
    same(own.memory.goal, "the run's", "the run's goal")
    holds(not (await engine.memory(session_id)).HasField("goal"), "the session has the run's goal")
