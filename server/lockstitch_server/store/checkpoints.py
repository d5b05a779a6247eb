"""The statements about checkpoints."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from lockstitch_server.model import (
    Change,
    Checkpoint,
    CheckpointPlace,
    CheckpointValue,
    CheckpointWrite,
    Commit,
    Fence,
    NewCheckpoint,
    NewSession,
    SessionKey,
    SessionRef,
)
from lockstitch_server.store.changing import Statements, head, report_of
from lockstitch_server.store.reading import Reading
from lockstitch_server.store.results import ChangeReport
from lockstitch_server.store.rows import Row

WritePlace = tuple[str, str, int]
"""(task_path, task_id, index) of a pending write."""


@dataclass(frozen=True, slots=True)
class CheckpointDeletion:
    """Which checkpoints are deleted: all, those of a run, or all but the newest so many of each namespace."""

    all: bool
    run_id: str | None
    keep_newest: int | None


@dataclass(frozen=True, slots=True)
class CheckpointFilter:
    """Which checkpoints a list shows, behind a place."""

    ref: SessionRef | None
    tenant_id: str
    namespace: str | None
    run_id: str | None
    before: str | None
    after: CheckpointPlace | None


@dataclass(frozen=True, slots=True)
class ListedPlace:
    """Where a checkpoint stands that was looked at for a list."""

    place: CheckpointPlace
    metadata: bytes
    """Empty where nobody asked for it."""
    shown: bool
    """Whether the list shows it."""
    is_last: bool
    """Whether no more were looked at."""


class CheckpointStore:
    """Puts, copies, deletes and reads checkpoints."""

    def __init__(
        self,
        statements: Statements,
        reading: Reading,
        *,
        bytes_max: int,
        committed: Callable[[SessionKey, Callable[[], Commit | None]], None],
    ) -> None:
        """A checkpoint with its values takes at most `bytes_max`; `committed` is told of each commit."""
        self._statements = statements
        self._reading = reading
        self._bytes_max = bytes_max
        self._committed = committed

    async def put(self, change: Change, new: NewCheckpoint, create: NewSession | None) -> ChangeReport:
        """Put a checkpoint."""
        row = await self._statements.one(
            "put_checkpoint",
            *head(change),
            change.expected_version,
            *_fence(change.fence),
            *_create(create),
            new.namespace,
            new.checkpoint_id,
            new.parent_id,
            new.run_id,
            new.format,
            new.metadata,
            new.data,
            [value.channel for value in new.values],
            [value.version for value in new.values],
            [value.format for value in new.values],
            [value.data for value in new.values],
            *_writes(new.writes),
            self._bytes_max,
        )
        return self._told(change, replace(report_of(row), index=row["r_index"] or 0))

    async def put_writes(
        self,
        ref: SessionRef,
        fence: Fence | None,
        namespace: str,
        checkpoint_id: str,
        writes: Sequence[CheckpointWrite],
    ) -> str:
        """Put pending writes; gives what became of them."""
        row = await self._statements.one(
            "put_checkpoint_writes",
            ref.tenant_id,
            ref.key,
            ref.session_id,
            ref.owner,
            *_fence(fence),
            namespace,
            checkpoint_id,
            *_writes(writes),
        )
        outcome: str = row["r_outcome"]
        return outcome

    async def delete(self, change: Change, deletion: CheckpointDeletion) -> ChangeReport:
        """Delete checkpoints."""
        row = await self._statements.one(
            "delete_checkpoints",
            *head(change),
            change.expected_version,
            *_fence(change.fence),
            deletion.all,
            deletion.run_id,
            deletion.keep_newest,
        )
        return self._told(change, replace(report_of(row), count=row["r_count"] or 0))

    async def copy(self, change: Change, source: SessionRef, create: NewSession | None) -> ChangeReport:
        """Copy checkpoints to the change's session."""
        row = await self._statements.one(
            "copy_checkpoints",
            *head(change),
            change.expected_version,
            source.key,
            source.session_id,
            *_create(create),
        )
        return self._told(change, replace(report_of(row), count=row["r_count"] or 0))

    async def get(
        self,
        ref: SessionRef,
        namespace: str,
        checkpoint_id: str,
        *,
        after_write: WritePlace | None,
        ancestors: int,
        ancestor_id: str,
        bytes_max: int,
    ) -> tuple[Checkpoint, ...] | None:
        """Give a checkpoint and so many of its ancestors, or these from one on; None where there is no session."""
        found = await self._reading.fetch(
            "get_checkpoint",
            ref.tenant_id,
            ref.key,
            ref.session_id,
            ref.owner,
            namespace,
            checkpoint_id,
            *(after_write or (None, None, None)),
            ancestors,
            ancestor_id,
            bytes_max,
        )
        return tuple(_checkpoint(row) for row in found[1:]) if found else None

    async def places(
        self, shown: CheckpointFilter, *, limit: int, scan: int, metadata_bytes_max: int | None
    ) -> tuple[ListedPlace, ...] | None:
        """Give up to `limit` places, with so many bytes of their metadata; None where there is no session."""
        ref, after = shown.ref, shown.after
        found = await self._reading.fetch(
            "list_checkpoint_places",
            shown.tenant_id,
            None if ref is None else ref.key,
            None if ref is None else ref.session_id,
            None if ref is None else ref.owner,
            shown.namespace,
            shown.run_id,
            shown.before,
            None if after is None else after.checkpoint_id,
            None if after is None else after.key,
            None if after is None else after.namespace,
            limit,
            scan,
            metadata_bytes_max,
        )
        if not found:
            return None
        return tuple(
            ListedPlace(
                place=CheckpointPlace(row["checkpoint_id"], row["session_key"], row["namespace"]),
                metadata=row["metadata"] or b"",
                shown=row["shown"],
                is_last=row["is_last"],
            )
            for row in found[1:]
        )

    async def by_place(
        self, tenant_id: str, places: Sequence[CheckpointPlace], *, bytes_max: int
    ) -> tuple[Checkpoint, ...]:
        """Give checkpoints by their places, as many as fit."""
        found = await self._reading.fetch(
            "checkpoints_by_place",
            tenant_id,
            [place.key for place in places],
            [place.namespace for place in places],
            [place.checkpoint_id for place in places],
            bytes_max,
        )
        return tuple(_checkpoint(row) for row in found)

    def _told(self, change: Change, report: ChangeReport) -> ChangeReport:
        if report.outcome == "committed":
            self._committed(change.session.key, lambda: None)
        return report


def _fence(fence: Fence | None) -> tuple[object, ...]:
    return (None, None) if fence is None else (fence.run_id, fence.fencing_token)


def _create(create: NewSession | None) -> tuple[object, ...]:
    return (0, None, None) if create is None else (-1 if create.is_over_quota else 1, create.user_id, create.agent)


def _writes(writes: Sequence[CheckpointWrite]) -> tuple[object, ...]:
    return (
        [write.task_id for write in writes],
        [write.task_path for write in writes],
        [write.index for write in writes],
        [write.channel for write in writes],
        [write.format for write in writes],
        [write.data for write in writes],
    )


def _checkpoint(row: Row) -> Checkpoint:
    channels = row["value_channels"] or ()
    return Checkpoint(
        session_id=row["session_id"],
        namespace=row["namespace"],
        checkpoint_id=row["checkpoint_id"],
        parent_id=row["parent_id"],
        run_id=row["run_id"] or "",
        format=row["format"],
        metadata=row["metadata"],
        data=row["data"],
        version=row["version"],
        create_time=row["create_time"],
        values=tuple(
            CheckpointValue(channel=channel, version=version, format=value_format or "", data=data)
            for channel, version, value_format, data in zip(
                channels, row["value_versions"], row["value_formats"] or (), row["value_datas"] or (), strict=True
            )
        ),
        writes=tuple(
            CheckpointWrite(
                task_id=task_id, task_path=task_path, index=index, channel=channel, format=write_format, data=data
            )
            for task_id, task_path, index, channel, write_format, data in zip(
                row["task_ids"] or (),
                row["task_paths"] or (),
                row["write_indexes"] or (),
                row["write_channels"] or (),
                row["write_formats"] or (),
                row["write_datas"] or (),
                strict=True,
            )
        ),
        has_more_writes=row["more_writes"] or False,
    )
