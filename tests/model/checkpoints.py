"""Checkpoints: blobs by the caller's ids, the values that they share, and the writes that wait for them."""

from collections.abc import Iterable
from typing import Any

from lockstitch.v1 import checkpoint_service_pb2 as c
from lockstitch.v1.checkpoint_pb2 import Checkpoint, CheckpointRef, CheckpointValue, CheckpointWrite
from model import Given, Refused, runs
from model.session import Checkpoints, Place, State
from support.json_reference import digest, members

CHANGES = (c.PutCheckpointRequest, c.CopyCheckpointsRequest, c.DeleteCheckpointsRequest)


def check_shape(request: Any) -> None:
    """What contradicts itself."""
    if isinstance(request, c.PutCheckpointRequest) and (fence := runs.fence_of(request)) is not None:
        if request.checkpoint.run_id not in {"", fence.run_id}:
            raise Refused("INVALID_FIELD")
    elif isinstance(request, c.CopyCheckpointsRequest) and request.target_session_id == request.session_id:
        raise Refused("INVALID_FIELD")


def place_of(checkpoint: Checkpoint) -> Place:
    return checkpoint.namespace, checkpoint.checkpoint_id


def values_in(stored: Checkpoints, namespace: str) -> dict[tuple[str, str], CheckpointValue]:
    """The values of a namespace by channel and version: those that its checkpoints name, and no others."""
    of_namespace = [checkpoint for checkpoint in stored.values() if checkpoint.namespace == namespace]
    return {(value.channel, value.version): value for checkpoint in of_namespace for value in checkpoint.values}


def change(state: State, request: Any, given: Given, source: State | None) -> int | None:
    """Do what is asked for; how many were copied or deleted."""
    if isinstance(request, c.DeleteCheckpointsRequest):
        return delete(state, request)
    if source is not None:
        return copy(state, source)
    put(state, request, given)
    return None


def put(state: State, request: c.PutCheckpointRequest, given: Given) -> None:
    """Replaces what has its id; its writes are added to those that wait for it."""
    stored, new = state.present.checkpoints, Checkpoint.FromString(request.checkpoint.SerializeToString())
    known, values = values_in(stored, new.namespace), list(new.values)
    if new.parent_id:
        if (new.namespace, new.parent_id) not in stored:
            raise Refused("INVALID_FIELD")
        if has_cycle({**stored, place_of(new): new}):
            raise Refused("INVALID_FIELD")
    del new.values[:]
    for value in values:
        before = known.get((value.channel, value.version))
        differs = before is not None and (before.data, before.format) != (value.data, value.format)
        if differs if value.HasField("data") else before is None:
            raise Refused("INVALID_FIELD")
        new.values.append(before or value)
    new.ClearField("writes")
    new.session_id, new.version = state.head.session_id, state.head.version
    new.run_id = state.under or new.run_id
    new.create_time.CopyFrom(given.now)
    stored[place_of(new)] = new
    add_writes(state, place_of(new), request.checkpoint.writes)


def add_writes(state: State, place: Place, writes: Iterable[CheckpointWrite]) -> None:
    """An index below 0 replaces what was there; others stay as they were first put."""
    there = state.present.writes.setdefault(place, {})
    for write in writes:
        key = write.task_id, write.index
        if write.index < 0 or key not in there:
            there[key] = write


def has_cycle(stored: Checkpoints) -> bool:
    """Whether a checkpoint comes from itself."""
    for first in stored.values():
        met, one = {place_of(first)}, first
        while (before := stored.get((one.namespace, one.parent_id))) is not None:
            if place_of(before) in met:
                return True
            met.add(place_of(before))
            one = before
    return False


def delete(state: State, request: c.DeleteCheckpointsRequest) -> int:
    """With those that go go their writes; with all go all writes, also those that came before their checkpoint."""
    stored, writes = state.present.checkpoints, state.present.writes
    if request.all:
        gone = list(stored)
        writes.clear()
    elif request.run_id:
        gone = [place for place, checkpoint in stored.items() if checkpoint.run_id == request.run_id]
    else:
        kept = {
            place
            for namespace in {place[0] for place in stored}
            for place in sorted((p for p in stored if p[0] == namespace), reverse=True)[: request.keep_newest]
        }
        gone = [place for place in stored if place not in kept]
    for place in gone:
        del stored[place]
        writes.pop(place, None)
    return len(gone)


def copy(state: State, source: State) -> int:
    """What has the ids of what is copied is replaced, with its writes; what stays must not get other values by it."""
    stored, copied = state.present.checkpoints, source.present.checkpoints
    if not copied:
        return 0
    for place in stored.keys() - copied.keys():
        brought = values_in(copied, place[0])
        if any(brought.get((value.channel, value.version), value) != value for value in stored[place].values):
            raise Refused("INVALID_FIELD")
    if has_cycle({**stored, **copied}):
        raise Refused("INVALID_FIELD")
    for place, checkpoint in copied.items():
        new = Checkpoint.FromString(checkpoint.SerializeToString())
        new.session_id, new.version = state.head.session_id, state.head.version
        stored[place] = new
        state.present.writes.pop(place, None)
    for place, writes in source.present.writes.items():
        state.present.writes.setdefault(place, {}).update(writes)
    return len(copied)


def refs(before: State, after: State, request: Any) -> list[CheckpointRef]:
    """What a commit says of checkpoints: those that it put, or deleted, by namespace and id; a value counts once."""
    was, is_there = before.present.checkpoints, after.present.checkpoints
    if isinstance(request, c.DeleteCheckpointsRequest):
        gone = sorted(was.keys() - is_there.keys())
        return [CheckpointRef(namespace=place[0], checkpoint_id=place[1], deleted=True) for place in gone]
    told = {(namespace, *value) for namespace in {place[0] for place in was} for value in values_in(was, namespace)}
    found = []
    for place in sorted(place for place, stored in is_there.items() if stored.version == after.head.version):
        brought = {(place[0], value.channel, value.version): len(value.data) for value in is_there[place].values}
        size = len(is_there[place].data) + sum(brought[value] for value in brought.keys() - told)
        found.append(CheckpointRef(namespace=place[0], checkpoint_id=place[1], bytes=size))
        told |= brought.keys()
    return found


def shown(state: State, place: Place) -> Checkpoint:
    """A checkpoint with its writes, by task_path, task_id and index."""
    checkpoint = Checkpoint.FromString(state.present.checkpoints[place].SerializeToString())
    writes = state.present.writes.get(place, {}).values()
    checkpoint.writes.extend(sorted(writes, key=lambda write: (write.task_path, write.task_id, write.index)))
    return checkpoint


def ancestors(state: State, place: Place) -> list[Checkpoint]:
    """Those that it goes on from, the nearest first; a parent that was deleted ends them."""
    found: list[Checkpoint] = []
    parent = (place[0], state.present.checkpoints[place].parent_id)
    while parent in state.present.checkpoints:
        found.append(shown(state, parent))
        parent = (place[0], found[-1].parent_id)
    return found


def listed(state: State, asked: c.ListCheckpointsRequest) -> list[Checkpoint]:
    """The greatest id first."""
    found = [shown(state, place) for place in state.present.checkpoints]
    found = [one for one in found if not asked.HasField("namespace") or one.namespace == asked.namespace]
    found = [one for one in found if asked.run_id in {"", one.run_id} and one.checkpoint_id < (asked.before or "~")]
    wanted = {key: digest(value) for key, value, _ in members(asked.metadata_json or "{}") or ()}
    found = [one for one in found if wanted.items() <= _meaning(one).items()]
    return sorted(found, key=lambda one: (one.checkpoint_id, one.namespace), reverse=True)


def _meaning(checkpoint: Checkpoint) -> dict[str, str]:
    return {key: digest(value) for key, value, _ in members(checkpoint.metadata_json or "{}") or ()}
