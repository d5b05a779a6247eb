"""Checkpoints: checked on the way in, put together on the way out."""

from collections.abc import Sequence

from lockstitch.v1 import checkpoint_pb2 as pb
from lockstitch_server.api import checks
from lockstitch_server.errors import BatchTooLarge, InvalidField, MessageTooLarge
from lockstitch_server.model import Checkpoint, CheckpointValue, CheckpointWrite, NewCheckpoint
from lockstitch_server.service import json_text

ITEMS_MAX = 1000
_PATH_CHARACTERS_MAX = 1024


def new_checkpoint(
    given: pb.Checkpoint, *, id_max: int, metadata_bytes_max: int, content_bytes_max: int
) -> NewCheckpoint:
    """Check a checkpoint that is put."""
    prefix = "checkpoint."
    if len(given.values) > ITEMS_MAX:
        sentence = f"The checkpoint holds more than {ITEMS_MAX} values."
        raise BatchTooLarge(sentence, field="checkpoint.values", metadata={"limit": str(ITEMS_MAX)})
    size = len(given.data) + sum(len(value.data) for value in given.values)
    if size > content_bytes_max:
        sentence = f"checkpoint is larger than {content_bytes_max} bytes with its values."
        raise MessageTooLarge(sentence, field="checkpoint", metadata={"limit_bytes": str(content_bytes_max)})
    values = tuple(_value(value, f"{prefix}values[{place}].", id_max) for place, value in enumerate(given.values))
    if len({value.channel for value in values}) < len(values):
        raise InvalidField("checkpoint.values", "name a channel twice")
    return NewCheckpoint(
        namespace=checks.identifier(given.namespace, f"{prefix}namespace", id_max, required=False),
        checkpoint_id=checks.identifier(given.checkpoint_id, f"{prefix}checkpoint_id", id_max),
        parent_id=checks.identifier(given.parent_id, f"{prefix}parent_id", id_max, required=False),
        run_id=checks.identifier(given.run_id, f"{prefix}run_id", id_max, required=False) or None,
        format=checks.identifier(given.format, f"{prefix}format", id_max, required=False),
        metadata=_metadata(given.metadata_json, f"{prefix}metadata_json", metadata_bytes_max),
        data=given.data,
        values=values,
        writes=new_writes(given.writes, f"{prefix}writes", id_max),
    )


def new_writes(given: Sequence[pb.CheckpointWrite], field: str, id_max: int) -> tuple[CheckpointWrite, ...]:
    """Check pending writes."""
    if len(given) > ITEMS_MAX:
        sentence = f"The request holds more than {ITEMS_MAX} writes."
        raise BatchTooLarge(sentence, field=field, metadata={"limit": str(ITEMS_MAX)})
    return tuple(
        CheckpointWrite(
            task_id=checks.identifier(write.task_id, f"{field}[{place}].task_id", id_max),
            task_path=checks.identifier(
                write.task_path, f"{field}[{place}].task_path", _PATH_CHARACTERS_MAX, required=False
            ),
            index=write.index,
            channel=checks.identifier(write.channel, f"{field}[{place}].channel", id_max),
            format=checks.identifier(write.format, f"{field}[{place}].format", id_max, required=False),
            data=write.data,
        )
        for place, write in enumerate(given)
    )


def _value(given: pb.CheckpointValue, prefix: str, id_max: int) -> CheckpointValue:
    return CheckpointValue(
        channel=checks.identifier(given.channel, f"{prefix}channel", id_max),
        version=checks.identifier(given.version, f"{prefix}version", id_max),
        format=checks.identifier(given.format, f"{prefix}format", id_max, required=False),
        data=given.data if given.HasField("data") else None,
    )


def _metadata(text: str, field: str, bytes_max: int) -> bytes:
    if not text:
        return b""
    given = checks.json(text, field, bytes_max)
    if json_text.members(given) is None:
        raise InvalidField(field, "is not a JSON object")
    return given


def fill(target: pb.Checkpoint, checkpoint: Checkpoint) -> None:
    """Write a checkpoint."""
    target.checkpoint_id = checkpoint.checkpoint_id
    target.session_id = checkpoint.session_id
    target.run_id = checkpoint.run_id
    target.namespace = checkpoint.namespace
    target.parent_id = checkpoint.parent_id
    target.format = checkpoint.format
    target.data = checkpoint.data
    target.metadata_json = checkpoint.metadata.decode()
    target.version = checkpoint.version
    checks.to_timestamp(checkpoint.create_time, target.create_time)
    for value in checkpoint.values:
        target.values.add(channel=value.channel, version=value.version, format=value.format, data=value.data)
    for write in checkpoint.writes:
        target.writes.add(
            task_id=write.task_id,
            task_path=write.task_path,
            index=write.index,
            channel=write.channel,
            format=write.format,
            data=write.data,
        )
    target.writes_truncated = checkpoint.has_more_writes
