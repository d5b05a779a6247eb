"""Checkpoints as tests put and read them."""

from collections.abc import Iterable
from typing import Any

from lockstitch.v1.checkpoint_pb2 import Checkpoint, CheckpointValue, CheckpointWrite
from support.pages import PAGES_MAX, all_of
from support.rpc import Rpc
from support.sizes import fits

ANY_BYTES = bytes(range(256)) + b"\x00\x00\xff"
ANY_TEXT = "a b\u00e9\u4e2d\U0001f600"
"""What ids may be: printable, of any script."""


async def put(rpc: Rpc, session_id: str, checkpoint_id: str, **fields: Any) -> Any:
    """Put a checkpoint: its fields, and those of the request where they have these names."""
    request = {
        name: fields.pop(name)
        for name in ("request_id", "fence", "expected_version", "create_if_missing")
        if name in fields
    }
    checkpoint = Checkpoint(checkpoint_id=checkpoint_id, **fields)
    return (await rpc.PutCheckpoint(session_id=session_id, checkpoint=checkpoint, **request)).receipt


async def put_chain(rpc: Rpc, session_id: str, ids: Iterable[str], **fields: Any) -> None:
    """Put checkpoints of which each goes on from the one before."""
    parent_id = ""
    for checkpoint_id in ids:
        await put(rpc, session_id, checkpoint_id, parent_id=parent_id, **fields)
        parent_id = checkpoint_id


async def got(rpc: Rpc, session_id: str, checkpoint_id: str = "", **fields: Any) -> Any:
    """Get a checkpoint, the latest where no id is given, with the writes that fit."""
    answer = fits(await rpc.GetCheckpoint(session_id=session_id, checkpoint_id=checkpoint_id, **fields))
    return answer.checkpoint


async def listed(rpc: Rpc, **fields: Any) -> list[str]:
    """List ids of checkpoints, to the end."""
    return [one.checkpoint_id for one in await all_of("checkpoints", rpc.ListCheckpoints, **fields)]


async def ancestors(rpc: Rpc, session_id: str, checkpoint_id: str = "", **fields: Any) -> list[str]:
    """Give the ids of a checkpoint's ancestors, to the end."""
    request = {"session_id": session_id, "checkpoint_id": checkpoint_id, "ancestors": True, **fields}
    pages = [fits(await rpc.GetCheckpoint(**request))]
    while pages[-1].next_ancestors_page_token:
        assert len(pages) < PAGES_MAX, "they never end"
        token = pages[-1].next_ancestors_page_token
        pages.append(fits(await rpc.GetCheckpoint(**request, ancestors_page_token=token)))
    return [one.checkpoint_id for page in pages for one in page.ancestors]


def value(channel: str, version: str, data: bytes | None = None, **fields: Any) -> CheckpointValue:
    """Make a value; without data it is one that is stored."""
    made = CheckpointValue(channel=channel, version=version, **fields)
    if data is not None:
        made.data = data
    return made


def write(task_id: str = "t", index: int = 0, data: bytes = b"w", **fields: Any) -> CheckpointWrite:
    """Make a pending write."""
    made = CheckpointWrite(task_id=task_id, index=index, channel="c", data=data)
    made.MergeFrom(CheckpointWrite(**fields))
    return made


def places(checkpoint: Checkpoint) -> list[tuple[str, str, int]]:
    """Give the places of a checkpoint's writes."""
    return [(one.task_path, one.task_id, one.index) for one in checkpoint.writes]
