"""Working memory: one JSON object, whose values are kept as texts."""

import json
from typing import NamedTuple

from lockstitch.v1.working_memory_pb2 import MemoryChange, WorkingMemory
from support.json_reference import dumps, members, merge

Values = dict[str, str]
TEXTS, LISTS = ("goal", "next_action"), ("plan", "completed", "errors", "important_files")
TYPED = {*TEXTS, *LISTS}


class Memory(NamedTuple):
    values: Values
    version: int


def values_of(memory: WorkingMemory) -> Values:
    given = {field.name: value for field, value in memory.ListFields()}
    typed = {key: dumps(given[key] if key in TEXTS else list(given[key])) for key in TYPED & given.keys()}
    return {key: value for key, value, _ in members(memory.extra_json or "{}") or ()} | typed


def shown(memory: Memory) -> WorkingMemory:
    values, version = memory
    typed = {key: json.loads(values[key]) for key in TYPED & values.keys()}
    extra = sorted((key.encode(), f"{dumps(key)}:{value}") for key, value in values.items() if key not in TYPED)
    extra_json = "{" + ",".join(member for _, member in extra) + "}" if extra else ""
    return WorkingMemory(**typed, extra_json=extra_json, version=version)


def after(values: Values, change: MemoryChange) -> Values:
    match change.WhichOneof("change"):
        case "replace":
            return values_of(change.replace)
        case "set":
            paths, new = set(change.set.update_mask.paths), values_of(change.set.memory)
            named = {key for key in {*values, *new} if (key if key in TYPED else "extra_json") in paths}
            return {key: values[key] for key in values.keys() - named} | {key: new[key] for key in named & new.keys()}
        case "merge_patch_json":
            patch = {key: value for key, value, _ in members(change.merge_patch_json) or ()}
            merged = {key: merge(values.get(key), value) for key, value in patch.items() if value != "null"}
            return {key: value for key, value in values.items() if key not in patch} | merged
        case _:
            kept = {key: value for key, value in values.items() if key not in change.keys.delete}
            return kept | dict(change.keys.set)
