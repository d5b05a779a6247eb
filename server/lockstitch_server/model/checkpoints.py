"""Checkpoints: the points from which executions go on."""

from dataclasses import dataclass
from datetime import datetime

from lockstitch_server.model.identity import SessionKey


@dataclass(frozen=True, slots=True)
class CheckpointValue:
    """A part of a checkpoint's state, shared by those that name the same version; without data, one that is stored."""

    channel: str
    version: str
    format: str
    data: bytes | None


@dataclass(frozen=True, slots=True)
class CheckpointWrite:
    """Something that a task wrote and that no checkpoint holds yet."""

    task_id: str
    task_path: str
    index: int
    channel: str
    format: str
    data: bytes


@dataclass(frozen=True, slots=True)
class NewCheckpoint:
    """A checkpoint to put."""

    namespace: str
    checkpoint_id: str
    parent_id: str
    run_id: str | None
    format: str
    metadata: bytes
    data: bytes
    values: tuple[CheckpointValue, ...]
    writes: tuple[CheckpointWrite, ...]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A stored checkpoint with as many of its writes as there was room for."""

    session_id: str
    namespace: str
    checkpoint_id: str
    parent_id: str
    run_id: str
    format: str
    metadata: bytes
    data: bytes
    version: int
    create_time: datetime
    values: tuple[CheckpointValue, ...]
    writes: tuple[CheckpointWrite, ...]
    has_more_writes: bool


@dataclass(frozen=True, slots=True)
class CheckpointPlace:
    """Where a checkpoint stands among those of its tenant."""

    checkpoint_id: str
    key: SessionKey
    namespace: str


@dataclass(frozen=True, slots=True)
class CheckpointRef:
    """A checkpoint as a commit names it."""

    namespace: str
    checkpoint_id: str
    bytes: int
    deleted: bool
