"""CONTRACT 8: working memory, and what each way of changing it keeps."""

import json
from typing import Any

import pytest

from factories import keyed, patched, replaced, said
from lockstitch.v1.working_memory_pb2 import WorkingMemory
from support.rpc import Create, Rpc, field_refused, refusal
from support.sizes import MIB

FULL: dict[str, Any] = {
    "goal": "ship",
    "plan": ["a", "b"],
    "completed": [""],
    "errors": ["e"],
    "important_files": ["f"],
    "next_action": "",
}
# RFC 7396, appendix A, where both sides are objects; and nulls at every depth.
MERGES = [
    ('{"a":"b"}', '{"a":"c"}', '{"a":"c"}'),
    ('{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'),
    ('{"a":"b"}', '{"a":null}', "{}"),
    ('{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'),
    ('{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'),
    ('{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'),
    ('{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'),
    ('{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'),
    ('{"e":null}', '{"a":1}', '{"e":null,"a":1}'),
    ("{}", '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'),
    ("{}", '{"a":{"b":{"c":{"d":null,"e":0}}}}', '{"a":{"b":{"c":{"e":0}}}}'),
    ('{"a":1}', '{"a":{"b":null}}', '{"a":{}}'),
    ('{"a":{"b":{"c":1}}}', '{"a":{"b":null}}', '{"a":{}}'),
    ('{"a":{"b":1}}', '{"a":{"b":{"x":null,"y":[null,{"z":null}]}}}', '{"a":{"b":{"y":[null,{"z":null}]}}}'),
    ('{"a":1,"b":2}', '{"a":"","b":0,"c":false,"d":[],"e":{}}', '{"a":"","b":0,"c":false,"d":[],"e":{}}'),
    ('{"a":{"k":1}}', '{"a":{}}', '{"a":{"k":1}}'),
    ('{"a":1}', "{}", '{"a":1}'),
]


async def _extra(engine: Rpc, session_id: str) -> str:
    text: str = (await engine.GetMemory(session_id=session_id)).memory.extra_json
    return text


@pytest.mark.parametrize(("old", "patch", "new"), MERGES)
async def test_a_merge_patch_merges_as_rfc_7396_has_it(
    engine: Rpc, create: Create, old: str, patch: str, new: str
) -> None:
    session_id = await create(memory={"extra_json": old})
    answer = await engine.UpdateMemory(session_id=session_id, change=patched(patch))
    assert json.loads(answer.memory.extra_json or "{}") == json.loads(new)
    assert answer.memory == (await engine.GetMemory(session_id=session_id)).memory


@pytest.mark.parametrize("patch", [patch for _, patch, _ in MERGES])
async def test_null_deletes_on_the_first_write_as_on_later_ones(engine: Rpc, create: Create, patch: str) -> None:
    first, later = await create(), await create(memory={"goal": "g"})
    for session_id in (first, later):
        await engine.UpdateMemory(session_id=session_id, change=patched(patch))
    assert await _extra(engine, first) == await _extra(engine, later)


async def test_a_patch_keeps_every_byte_that_it_does_not_name(engine: Rpc, create: Create) -> None:
    untouched = '{ "n" : 1.0 ,\t"e":1e3, "big":7203685477580123457, "dup":1,"dup":2, "s":"\\u0041\\/" }'
    session_id = await create(memory={"extra_json": '{"a":{"x":' + untouched + ',"y":-0.0},"b":' + untouched + "}"})
    await engine.UpdateMemory(session_id=session_id, change=patched('{"a":{"z":[1.50]}}'))
    assert await _extra(engine, session_id) == (
        '{"a":{"x":' + untouched + ',"y":-0.0,"z":[1.50]},"b":' + untouched + "}"
    )


async def test_a_patch_reaches_typed_keys(engine: Rpc, create: Create) -> None:
    session_id = await create(memory=FULL)
    patch = '{"goal":null,"plan":[],"completed":["\\ud83d\\ude00"],"next_action":"go","errors":null,"other":null}'
    memory = (await engine.UpdateMemory(session_id=session_id, change=patched(patch))).memory
    expected = WorkingMemory(completed=["\U0001f600"], next_action="go", important_files=["f"], version=2)
    assert memory == expected


async def test_replace_is_all_there_is_afterwards(engine: Rpc, create: Create) -> None:
    session_id = await create(memory=FULL | {"extra_json": '{"a":1}'})
    change = replaced(next_action="", extra_json='{"b":2}', version=77)
    memory = (await engine.UpdateMemory(session_id=session_id, change=change, expected_version=1)).memory
    assert memory == WorkingMemory(next_action="", extra_json='{"b":2}', version=2)
    assert memory.HasField("next_action")
    assert not memory.HasField("goal")


@pytest.mark.parametrize("path", [*FULL, "extra_json"])
async def test_set_touches_the_fields_that_its_mask_names(engine: Rpc, create: Create, path: str) -> None:
    session_id = await create(memory=FULL | {"extra_json": '{"a":1,"b":2}'})
    new = {
        "goal": "n",
        "plan": ["n"],
        "completed": ["n"],
        "errors": ["n"],
        "important_files": ["n"],
        "next_action": "n",
    }
    new |= {"extra_json": '{"n":1}'}
    change = {"set": {"memory": new, "update_mask": {"paths": [path]}}}
    memory = (await engine.UpdateMemory(session_id=session_id, change=change, force=True)).memory
    assert memory == WorkingMemory(**FULL | {"extra_json": '{"a":1,"b":2}'} | {path: new[path]}, version=2)
    cleared = {"set": {"update_mask": {"paths": [path]}}}
    memory = (await engine.UpdateMemory(session_id=session_id, change=cleared, force=True)).memory
    left = {key: value for key, value in (FULL | {"extra_json": '{"a":1,"b":2}'}).items() if key != path}
    assert memory == WorkingMemory(**left, version=3)


async def test_keys_set_and_delete_alone(engine: Rpc, create: Create) -> None:
    session_id = await create(memory=FULL | {"extra_json": '{"a":{"deep":1.0},"b":2,"c":3}'})
    change = keyed("b", "goal", "never-was", c="null", d=' {"x":null} ', plan='["n"]')
    memory = (await engine.UpdateMemory(session_id=session_id, change=change)).memory
    assert memory.plan == ["n"]
    assert not memory.HasField("goal")
    assert json.loads(memory.extra_json) == {"a": {"deep": 1.0}, "c": None, "d": {"x": None}}
    assert '{"deep":1.0}' in memory.extra_json


async def test_values_that_are_empty_are_values(engine: Rpc, create: Create) -> None:
    empty = '{"":"","f":false,"l":[],"o":{},"z":0}'
    session_id = await create(memory={"goal": "", "next_action": "", "extra_json": empty})
    memory = (await engine.GetMemory(session_id=session_id)).memory
    assert memory == WorkingMemory(goal="", next_action="", extra_json=empty, version=1)


async def test_a_memory_rides_on_an_append_or_neither_is_stored(engine: Rpc, create: Create) -> None:
    session_id = await create(memory={"goal": "g"})
    await engine.Append(session_id=session_id, messages=[said("x")], memory_change=patched('{"k":{"n":1}}'))
    session = (await engine.GetSession(session_id=session_id)).session
    assert (session.version, session.memory_version, session.message_count) == (2, 2, 1)
    bad = engine.Append(session_id=session_id, messages=[said("x")], memory_change=patched('{"plan":"no"}'))
    assert await field_refused(bad) == "memory_change.merge_patch_json"
    bad = engine.Append(session_id=session_id, messages=[said("x")], memory_change={})
    assert await field_refused(bad) == "memory_change"
    assert (await engine.GetSession(session_id=session_id)).session == session


BAD: list[tuple[str, Any]] = [
    ("change", {}),
    ("change.merge_patch_json", patched("")),
    ("change.merge_patch_json", patched("[]")),
    ("change.merge_patch_json", patched("null")),
    ("change.merge_patch_json", patched('{"a":1')),
    ("change.merge_patch_json", patched('{"a":1,"a":2}')),
    ("change.merge_patch_json", patched('{"a":1,"\\u0061":2}')),
    ("change.merge_patch_json", patched('{"goal":1}')),
    ("change.merge_patch_json", patched('{"goal":{"a":1}}')),
    ("change.merge_patch_json", patched('{"goal":1e999}')),
    ("change.merge_patch_json", patched('{"plan":["a",1e999]}')),
    ("change.merge_patch_json", patched('{"plan":[["a"]]}')),
    ("change.merge_patch_json", patched('{"plan":[null]}')),
    ("change.merge_patch_json", patched('{"' + "k" * 513 + '":1}')),
    ("change.replace.extra_json", replaced(extra_json="[]")),
    ("change.replace.extra_json", replaced(extra_json='{"goal":"x"}')),
    ("change.replace.extra_json", replaced(extra_json='{"a":NaN}')),
    ("change.replace.extra_json", replaced(extra_json='{"a":1}}')),
    ("change.replace.extra_json", replaced(extra_json='{"\\u0000":1}')),
    ("change.set.update_mask", {"set": {"memory": {"goal": "g"}}}),
    ("change.set.update_mask", {"set": {"update_mask": {"paths": ["version"]}}}),
    ("change.set.update_mask", {"set": {"update_mask": {"paths": ["goal", "extra_json.a"]}}}),
    ("change.set.update_mask", {"set": {"update_mask": {"paths": [""]}}}),
    ("change.keys", {"keys": {}}),
    ("change.keys.set", keyed(a="")),
    ("change.keys.set", keyed(a="{")),
    ("change.keys.set", keyed(a="1 2")),
    ("change.keys.set", keyed(plan="[1e999]")),
    ("change.keys.set", keyed(next_action="[]")),
    ("change.keys.set", keyed(**{"k" * 513: "1"})),
    ("change.keys.set", keyed(**{"\x1f": "1"})),
    ("change.keys.delete", keyed("a", a="1")),
]


@pytest.mark.parametrize(("field", "change"), BAD)
async def test_a_change_that_is_none_is_refused_by_name(engine: Rpc, create: Create, field: str, change: Any) -> None:
    session_id = await create(memory={"goal": "g"})
    assert await field_refused(engine.UpdateMemory(session_id=session_id, change=change, force=True)) == field
    assert (await engine.GetMemory(session_id=session_id)).memory == WorkingMemory(goal="g", version=1)


async def test_memory_holds_a_mebibyte_and_no_more(engine: Rpc, create: Create) -> None:
    session_id = await create()
    half = '"' + "x" * (MIB // 2 - 3) + '"'
    for key in ("a", "b"):
        await engine.UpdateMemory(session_id=session_id, change=keyed(**{key: half}))
    full = (await engine.GetSession(session_id=session_id)).session
    for change, field in (
        (keyed(c="1"), "change.keys"),
        (patched('{"c":1}'), "change.merge_patch_json"),
        (patched('{"b":{"more":' + half + "}}"), "change.merge_patch_json"),
    ):
        assert await field_refused(engine.UpdateMemory(session_id=session_id, change=change)) == field
    assert (await engine.GetSession(session_id=session_id)).session == full
    await engine.UpdateMemory(session_id=session_id, change=keyed("a", c=half))


@pytest.mark.parametrize("key", ["k" * 512, "\U0001f600" * 512, "", " ", '"\\/', "\x7f", "goal ", "__proto__"])
async def test_any_key_of_up_to_512_characters_is_kept(engine: Rpc, create: Create, key: str) -> None:
    session_id = await create()
    await engine.UpdateMemory(session_id=session_id, change=keyed(**{key: "1"}))
    await engine.UpdateMemory(session_id=session_id, change=patched(json.dumps({key: {"n": 2}})))
    assert json.loads(await _extra(engine, session_id)) == {key: {"n": 2}}
    await engine.UpdateMemory(session_id=session_id, change=keyed(key))
    assert await _extra(engine, session_id) == ""


async def test_what_was_read_can_be_written_back(engine: Rpc, create: Create) -> None:
    session_id = await create(memory=FULL | {"extra_json": '{"a":{"b":1e3}," ":"\\u0041"}'})
    memory = (await engine.GetMemory(session_id=session_id)).memory
    answer = await engine.UpdateMemory(session_id=session_id, change={"replace": memory}, expected_version=1)
    assert (answer.receipt.version, answer.memory) == (1, memory)


async def test_the_guard_of_an_older_memory_is_refused(engine: Rpc, create: Create) -> None:
    session_id = await create(memory={"goal": "g"})
    await engine.UpdateMemory(session_id=session_id, change=keyed(k="1"))
    refused = await refusal(
        engine.UpdateMemory(session_id=session_id, change=replaced(goal="h"), expected_memory_version=1)
    )
    assert (refused.reason, refused.metadata["memory_version"]) == ("VERSION_CONFLICT", "2")
