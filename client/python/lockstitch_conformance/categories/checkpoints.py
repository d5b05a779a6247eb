"""A checkpoint is kept as it was put, and the newest is found."""

from typing import Any

from lockstitch.v1.checkpoint_pb2 import Checkpoint, CheckpointWrite
from lockstitch.v1.checkpoint_service_pb2 import (
    CopyCheckpointsRequest,
    DeleteCheckpointsRequest,
    GetCheckpointRequest,
    ListCheckpointsRequest,
    PutCheckpointRequest,
    PutCheckpointWritesRequest,
)
from lockstitch_conformance.refusals import refused
from lockstitch_conformance.suite import Category, same
from lockstitch_conformance.world import World

CATEGORY = Category("checkpoints", "a checkpoint is kept as it was put, and the newest is found")


async def _put(world: World, session_id: str, checkpoint_id: str, **fields: Any) -> Any:
    given = {"format": "f", "data": checkpoint_id.encode()} | fields
    checkpoint = Checkpoint(checkpoint_id=checkpoint_id, **given)
    return await world.engine(PutCheckpointRequest(session_id=session_id, checkpoint=checkpoint))


async def _ids(world: World, session_id: str, **fields: Any) -> list[str]:
    page = await world.engine(ListCheckpointsRequest(session_id=session_id, **fields))
    return [one.checkpoint_id for one in page.checkpoints]


@CATEGORY.promise("The latest is the greatest id as text, in whatever order they were put; lists go downwards.")
async def latest(world: World) -> None:
    session_id = await world.engine.create()
    for checkpoint_id in ("2", "10", "9", "1"):
        await _put(world, session_id, checkpoint_id)
    found = (await world.engine(GetCheckpointRequest(session_id=session_id))).checkpoint
    same((found.checkpoint_id, found.data), ("9", b"9"), "the latest")
    same(await _ids(world, session_id), ["9", "2", "10", "1"], "the list")
    same(await _ids(world, session_id, before="2"), ["10", "1"], "those before 2")


@CATEGORY.promise("Namespaces are apart, and the empty one is one of them.")
async def namespaces(world: World) -> None:
    session_id = await world.engine.create()
    await _put(world, session_id, "1")
    await _put(world, session_id, "1", namespace="n", data=b"of n")
    request = GetCheckpointRequest(session_id=session_id, checkpoint_id="1")
    same((await world.engine(request)).checkpoint.data, b"1", "the data of the empty namespace")
    request.namespace = "n"
    same((await world.engine(request)).checkpoint.data, b"of n", "the data of the other")


@CATEGORY.promise("A checkpoint gives the line that it goes on from; a parent must be there.")
async def ancestors(world: World) -> None:
    session_id = await world.engine.create()
    await _put(world, session_id, "1")
    await _put(world, session_id, "2", parent_id="1")
    await _put(world, session_id, "3", parent_id="2")
    answer = await world.engine(GetCheckpointRequest(session_id=session_id, ancestors=True))
    same([one.checkpoint_id for one in answer.ancestors], ["2", "1"], "the ancestors")
    orphan = _put(world, session_id, "4", parent_id="none")
    await refused(orphan, "INVALID_FIELD", field="checkpoint.parent_id")


@CATEGORY.promise("Pending writes may come before their checkpoint, make no commit, and a place keeps what came first.")
async def pending_writes(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()

    async def write(index: int, data: bytes) -> None:
        one = CheckpointWrite(task_id="t", index=index, channel="c", format="f", data=data)
        await engine(PutCheckpointWritesRequest(session_id=session_id, checkpoint_id="1", writes=[one]))

    for index, data in ((0, b"first"), (0, b"second"), (-1, b"first"), (-1, b"second")):
        await write(index, data)
    same((await engine.get(session_id)).version, 1, "the version")
    await _put(world, session_id, "1")
    found = (await engine(GetCheckpointRequest(session_id=session_id))).checkpoint
    same({one.index: one.data for one in found.writes}, {0: b"first", -1: b"second"}, "the writes")


@CATEGORY.promise("Puts and deletions are commits, which name checkpoints by id and size.")
async def commits(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    await _put(world, session_id, "1", data=b"12345")
    await _put(world, session_id, "2")
    answer = await engine(DeleteCheckpointsRequest(session_id=session_id, keep_newest=1))
    same((answer.deleted, answer.receipt.version), (1, 4), "deleted, and the version")
    same(await _ids(world, session_id), ["2"], "what is left")
    log = await engine.commits(session_id, after_version=1)
    named = [[(one.checkpoint_id, one.deleted) for one in commit.checkpoints] for commit in log]
    same(named, [[("1", False)], [("2", False)], [("1", True)]], "what the commits name")


@CATEGORY.promise("Checkpoints are copied to another session as they are.")
async def copies(world: World) -> None:
    engine = world.engine
    source, target = await engine.create(), await engine.create()
    await _put(world, source, "1")
    await _put(world, source, "2", parent_id="1", namespace="")
    answer = await engine(CopyCheckpointsRequest(session_id=source, target_session_id=target))
    same(answer.copied, 2, "copied")
    found = await engine(GetCheckpointRequest(session_id=target, ancestors=True))
    same((found.checkpoint.data, [one.data for one in found.ancestors]), (b"2", [b"1"]), "what was copied")
