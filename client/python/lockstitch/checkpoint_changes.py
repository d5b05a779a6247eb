"""Changes of a session's checkpoints, under the fence where there is a run."""
# ruff: noqa: A002, ASYNC109 - parameters are named as the fields are; a call's time goes to the server as its deadline

from collections.abc import Iterable
from datetime import timedelta

from lockstitch.changes import SessionChanges, new_request_id
from lockstitch.v1.checkpoint_pb2 import Checkpoint, CheckpointValue, CheckpointWrite
from lockstitch.v1.checkpoint_service_pb2 import (
    DeleteCheckpointsRequest,
    DeleteCheckpointsResponse,
    PutCheckpointRequest,
    PutCheckpointWritesRequest,
)
from lockstitch.v1.commit_pb2 import CommitReceipt
from lockstitch.v1.session_service_pb2 import CreateIfMissing
from lockstitch.wire import Sendable, refused, to_json


class CheckpointChanges(SessionChanges):
    """What changes the checkpoints of a session; :class:`lockstitch.SessionHandle` says what every change takes."""

    async def put_checkpoint(
        self,
        checkpoint_id: str,
        *,
        data: bytes = b"",
        format: str = "",
        namespace: str = "",
        parent_id: str = "",
        metadata: object = None,
        values: Iterable[CheckpointValue] = (),
        writes: Iterable[CheckpointWrite] = (),
        run_id: str = "",
        create_if_missing: CreateIfMissing | None = None,
        expected_version: int | None = None,
        request_id: str = "",
        timeout: timedelta | None = None,
    ) -> CommitReceipt:
        """Puts a checkpoint, in one commit. What has its id already is replaced.

        Args:
            checkpoint_id: Your own id for it, 1 to 128 characters. Later ones must be greater as text, byte by byte:
                the greatest is the latest.
            data: The blob. With ``values`` at most 3 MiB.
            format: What ``data`` is, in your words.
            namespace: Ids are unique and parents are found in it; ``""`` is one like others.
            parent_id: The checkpoint that it goes on from.
            metadata: An object that is kept with it as JSON, to list by; at most 64 KiB; None for none.
            values: Parts of the state that are kept apart, at most 1,000. One without data is a version of its channel
                that was put before: what did not change is sent and stored once.
            writes: Pending writes to put with it.
            run_id: The run that it was made under, in your words.
            create_if_missing: Creates the session in this same commit if there is none.
            expected_version, request_id, timeout: See the class.

        Raises:
            InvalidField: A value that is not stored, or a parent that is not there or comes from this one.
            MessageTooLarge, VersionConflict, RunFenced

        Example:
            ``await session.put_checkpoint("0007", data=pickled, parent_id="0006", metadata={"step": 7})``
        """
        request_id = request_id or new_request_id()
        with Sendable("put_checkpoint"):
            request = PutCheckpointRequest(
                request_id=request_id,
                session_id=self.session_id,
                expected_version=expected_version,
                fence=self._fence,
                checkpoint=Checkpoint(
                    checkpoint_id=checkpoint_id,
                    namespace=namespace,
                    parent_id=parent_id,
                    run_id=run_id,
                    format=format,
                    data=data,
                    metadata_json="" if metadata is None else to_json(metadata, field="metadata"),
                    values=values,
                    writes=writes,
                ),
                create_if_missing=create_if_missing,
            )
        response = await self._call(
            lambda to: to.checkpoints.PutCheckpoint, request, timeout=timeout, request_id=request_id
        )
        self._made(response.receipt, expected_version)
        return response.receipt

    async def put_checkpoint_writes(
        self,
        checkpoint_id: str,
        *,
        writes: Iterable[CheckpointWrite],
        namespace: str = "",
        timeout: timedelta | None = None,
    ) -> None:
        """Puts pending writes of a checkpoint, which may come before it. Makes no commit; may be repeated at will.

        A write is known by its ``task_id`` and ``index``: one below 0 replaces what was there, others stay as they were
        first put.

        Args:
            checkpoint_id: The checkpoint that they follow on.
            writes: 1 to 1,000.
            namespace: The checkpoint's.
            timeout: See the class.

        Example:
            ``await session.put_checkpoint_writes("0007", writes=[CheckpointWrite(task_id="t1", channel="out")])``
        """
        with Sendable("put_checkpoint_writes"):
            request = PutCheckpointWritesRequest(
                session_id=self.session_id,
                fence=self._fence,
                namespace=namespace,
                checkpoint_id=checkpoint_id,
                writes=writes,
            )
        await self._call(lambda to: to.checkpoints.PutCheckpointWrites, request, timeout=timeout)

    async def delete_checkpoints(
        self,
        *,
        all: bool = False,
        run_id: str = "",
        keep_newest: int = 0,
        expected_version: int | None = None,
        request_id: str = "",
        timeout: timedelta | None = None,
    ) -> DeleteCheckpointsResponse:
        """Deletes checkpoints with their writes, in one commit. To delete what is not there changes nothing.

        One of these says which:

        Args:
            all: All of the session; or
            run_id: those of this run; or
            keep_newest: all but the newest so many of each namespace, 1 or more.
            expected_version, request_id, timeout: See the class.

        Raises:
            InvalidField: None of the three was given, or more than one.

        Example:
            ``await session.delete_checkpoints(keep_newest=10)``
        """
        if sum((all, bool(run_id), keep_newest != 0)) != 1:
            raise refused("all", "or run_id or keep_newest is needed, and one of them only")
        request_id = request_id or new_request_id()
        with Sendable("delete_checkpoints"):
            request = DeleteCheckpointsRequest(
                request_id=request_id,
                session_id=self.session_id,
                expected_version=expected_version,
                fence=self._fence,
            )
            if all:
                request.all = True
            if run_id:
                request.run_id = run_id
            if keep_newest:
                request.keep_newest = keep_newest
        response = await self._call(
            lambda to: to.checkpoints.DeleteCheckpoints, request, timeout=timeout, request_id=request_id
        )
        self._made(response.receipt, expected_version)
        return response
