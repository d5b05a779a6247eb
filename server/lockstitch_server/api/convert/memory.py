"""Working memory: changes become keys on the way in, keys become fields on the way out."""

import orjson

from lockstitch.v1 import working_memory_pb2
from lockstitch_server.api import checks
from lockstitch_server.errors import InvalidField
from lockstitch_server.model import Memory, MemoryPatch, MemoryScope, MemoryWrite
from lockstitch_server.service import json_text
from lockstitch_server.service.memory import LIST_KEYS, TEXT_KEYS, TYPED_KEYS, check_typed

KEY_CHARACTERS_MAX = 512
_EXTRA = "extra_json"
_FIELDS = {key.decode() for key in TYPED_KEYS} | {_EXTRA}


def change(request: working_memory_pb2.MemoryChange, field: str, bytes_max: int) -> MemoryWrite | MemoryPatch:
    """Turn a change into keys to set and delete; a merge patch is yet to meet what it changes."""
    requested = request.SerializeToString(deterministic=True)
    match request.WhichOneof("change"):
        case "replace":
            values: dict[bytes, bytes | None] = {**keys_of(request.replace, f"{field}.replace", bytes_max)}
            return MemoryWrite(
                path=f"{field}.replace", values=values, scope=MemoryScope.ALL, needs_guard=True, requested=requested
            )
        case "set":
            return _set(request.set, f"{field}.set", bytes_max, requested)
        case "merge_patch_json":
            patch_field = f"{field}.merge_patch_json"
            patch = checks.json(request.merge_patch_json, patch_field, bytes_max)
            _members(patch, patch_field)
            return MemoryPatch(patch=patch, path=patch_field, requested=requested)
        case "keys":
            return _keys(request.keys, f"{field}.keys", bytes_max, requested)
        case _:
            raise InvalidField(field, "holds no change")


def keys_of(memory: working_memory_pb2.WorkingMemory, field: str, bytes_max: int) -> dict[bytes, bytes]:
    """The keys of a memory that is given whole; what is absent has none."""
    values: dict[bytes, bytes] = {}
    if memory.extra_json:
        values |= _extra(memory.extra_json, f"{field}.{_EXTRA}", bytes_max)
    for key in TEXT_KEYS:
        if memory.HasField(_text_field(key)):
            values[key] = orjson.dumps(getattr(memory, key.decode()))
    for key in LIST_KEYS:
        items = list(getattr(memory, key.decode()))
        if items:
            values[key] = orjson.dumps(items)
    return values


def _text_field(key: bytes) -> "working_memory_pb2.WorkingMemory._HasFieldArgType":
    return "goal" if key == b"goal" else "next_action"


def _set(request: working_memory_pb2.MemorySet, field: str, bytes_max: int, requested: bytes) -> MemoryWrite:
    paths = list(request.update_mask.paths)
    if not paths:
        raise InvalidField(f"{field}.update_mask", "is required")
    for path in paths:
        if path not in _FIELDS:
            raise InvalidField(f"{field}.update_mask", "names a field that memory does not have")
    given = keys_of(request.memory, f"{field}.memory", bytes_max)
    values: dict[bytes, bytes | None] = {key: given.get(key) for key in TYPED_KEYS if key.decode() in paths}
    if _EXTRA in paths:
        values |= {key: value for key, value in given.items() if key not in TYPED_KEYS}
    return MemoryWrite(
        path=field,
        values=values,
        scope=MemoryScope.EXTRA if _EXTRA in paths else MemoryScope.NAMED,
        needs_guard=True,
        requested=requested,
    )


def _keys(request: working_memory_pb2.MemoryKeys, field: str, bytes_max: int, requested: bytes) -> MemoryWrite:
    values: dict[bytes, bytes | None] = {}
    for key, text in request.set.items():
        values[_key(key, f"{field}.set")] = checks.json(text, f"{field}.set", bytes_max)
    for key in request.delete:
        if key in request.set:
            raise InvalidField(f"{field}.delete", "names a key that is set")
        values[key.encode()] = None
    if not values:
        raise InvalidField(field, "names no key")
    check_typed(values, f"{field}.set")
    return MemoryWrite(path=field, values=values, requested=requested)


def _extra(text: str, field: str, bytes_max: int) -> dict[bytes, bytes]:
    values = {member.key: member.value for member in _members(checks.json(text, field, bytes_max), field)}
    if TYPED_KEYS & values.keys():
        raise InvalidField(field, "holds a key that is a field of its own")
    return values


def _members(text: bytes, field: str) -> list[json_text.Member]:
    members = json_text.members(text)
    if members is None:
        raise InvalidField(field, "must be a JSON object")
    if len({member.key for member in members}) < len(members):
        raise InvalidField(field, "names a key twice")
    for member in members:
        _key(member.key.decode(), field)
    return members


def _key(key: str, field: str) -> bytes:
    """Check a top-level key: it is indexed, and grows sixfold where it has control characters that must be escaped."""
    if len(key) > KEY_CHARACTERS_MAX or any(character < " " for character in key):
        raise InvalidField(
            field, f"has a key of more than {KEY_CHARACTERS_MAX} characters, or with a control character"
        )
    return key.encode()


def fill(target: working_memory_pb2.WorkingMemory, memory: Memory) -> None:
    """Write memory: typed keys to their fields, the others to extra_json in the order of their bytes."""
    target.version = memory.version
    target.erased = memory.erased
    for key in TEXT_KEYS & memory.values.keys():
        setattr(target, key.decode(), orjson.loads(memory.values[key]))
    for key in LIST_KEYS & memory.values.keys():
        getattr(target, key.decode()).extend(orjson.loads(memory.values[key]))
    extra = sorted((key, value) for key, value in memory.values.items() if key not in TYPED_KEYS)
    if extra:
        members = b",".join(orjson.dumps(key.decode()) + b":" + value for key, value in extra)
        target.extra_json = (b"{" + members + b"}").decode()
