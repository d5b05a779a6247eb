"""Checkpoints: the points from which executions go on."""
# ruff: noqa: ASYNC109 - parameters are named as the fields are; a call's time goes to the server as its deadline

from collections.abc import AsyncIterator, Mapping
from datetime import timedelta

from lockstitch.changes import new_request_id
from lockstitch.checkpoint_changes import CheckpointChanges
from lockstitch.errors import CheckpointNotFound
from lockstitch.transport import Transport
from lockstitch.v1.checkpoint_pb2 import Checkpoint
from lockstitch.v1.checkpoint_service_pb2 import (
    CopyCheckpointsRequest,
    CopyCheckpointsResponse,
    GetCheckpointRequest,
    ListCheckpointsRequest,
)
from lockstitch.v1.session_service_pb2 import CreateIfMissing
from lockstitch.wire import Sendable, to_json


class SessionCheckpoints(CheckpointChanges):
    """The checkpoints of a session, for engines; :class:`lockstitch.SessionHandle` says what every change takes."""

    async def checkpoint(
        self, checkpoint_id: str, *, namespace: str = "", timeout: timedelta | None = None
    ) -> Checkpoint:
        """A checkpoint with all its pending writes, by task_path, task_id and index.

        Raises:
            CheckpointNotFound: There is none of this id in this namespace.

        Example:
            ``state = (await session.checkpoint("0007")).data``
        """
        with Sendable("checkpoint"):
            request = GetCheckpointRequest(session_id=self.session_id, namespace=namespace, checkpoint_id=checkpoint_id)
        return await self._got(request, timeout)

    async def latest_checkpoint(self, *, namespace: str = "", timeout: timedelta | None = None) -> Checkpoint | None:
        """The checkpoint with the greatest id of a namespace, with all its pending writes; None where there is none.

        Example:
            ``latest = await session.latest_checkpoint(); state = load(latest.data) if latest else fresh()``
        """
        with Sendable("latest_checkpoint"):
            request = GetCheckpointRequest(session_id=self.session_id, namespace=namespace)
        try:
            return await self._got(request, timeout)
        except CheckpointNotFound:
            return None

    async def checkpoint_ancestors(
        self, checkpoint_id: str, *, namespace: str = "", timeout: timedelta | None = None
    ) -> AsyncIterator[Checkpoint]:
        """The checkpoints that one goes on from, the nearest first, each with all its writes; not itself.

        They end where there is no parent, or where it was deleted.

        Args:
            checkpoint_id: Which checkpoint.
            namespace: Its namespace.
            timeout: Of each page; see the class.

        Raises:
            CheckpointNotFound: There is none of this id in this namespace.

        Example:
            ``async for before in session.checkpoint_ancestors("0007"): print(before.checkpoint_id)``
        """
        with Sendable("checkpoint_ancestors"):
            request = GetCheckpointRequest(
                session_id=self.session_id, namespace=namespace, checkpoint_id=checkpoint_id, ancestors=True
            )
        while True:
            page = await self._call(lambda to: to.checkpoints.GetCheckpoint, request, timeout=timeout)
            for ancestor in page.ancestors:
                yield await _whole(self._transport, ancestor, timeout)
            if not page.next_ancestors_page_token:
                return
            request.ancestors_page_token = page.next_ancestors_page_token

    def checkpoints(
        self,
        *,
        namespace: str | None = None,
        run_id: str = "",
        metadata: Mapping[str, object] | None = None,
        before: str = "",
        page_size: int = 0,
        timeout: timedelta | None = None,
    ) -> AsyncIterator[Checkpoint]:
        """The checkpoints of the session, the greatest id first, each with all its writes, fetched a page at a time.

        Args:
            namespace: Only those of this namespace, of which ``""`` is one; None is all.
            run_id: Only those of this run.
            metadata: Only those whose metadata has these values at its top-level keys, compared as JSON.
            before: Only those with a smaller id.
            page_size: Checkpoints a page; 0 is 50, at most 1,000.
            timeout: Of each page; see the class.

        Example:
            ``steps = [c.checkpoint_id async for c in session.checkpoints(metadata={"source": "loop"})]``
        """
        return listed_checkpoints(
            self._transport,
            session_id=self.session_id,
            namespace=namespace,
            run_id=run_id,
            metadata=metadata,
            before=before,
            page_size=page_size,
            timeout=timeout,
        )

    async def copy_checkpoints(
        self,
        *,
        to: str,
        create_if_missing: CreateIfMissing | None = None,
        expected_version: int | None = None,
        request_id: str = "",
        timeout: timedelta | None = None,
    ) -> CopyCheckpointsResponse:
        """Copies all checkpoints, with values and writes, to another session, in one commit there.

        Args:
            to: The session that they are copied to. What has their ids there is replaced.
            create_if_missing: Creates that session in this same commit if there is none.
            expected_version: Of that session; see the class.
            request_id, timeout: See the class.

        Raises:
            InvalidField: Checkpoints that would stay there have other values under the same versions.
            VersionConflict

        Example:
            ``print((await session.copy_checkpoints(to=fork.session_id)).copied)``
        """
        request_id = request_id or new_request_id()
        with Sendable("copy_checkpoints"):
            request = CopyCheckpointsRequest(
                request_id=request_id,
                session_id=self.session_id,
                target_session_id=to,
                expected_version=expected_version,
                create_if_missing=create_if_missing,
            )
        # A commit of the other session's: this handle has seen nothing by it.
        return await self._call(
            lambda connection: connection.checkpoints.CopyCheckpoints, request, timeout=timeout, request_id=request_id
        )

    async def _got(self, request: GetCheckpointRequest, timeout: timedelta | None) -> Checkpoint:
        page = await self._call(lambda to: to.checkpoints.GetCheckpoint, request, timeout=timeout)
        return await _with_writes(self._transport, page.checkpoint, page.next_writes_page_token, request, timeout)


async def listed_checkpoints(
    transport: Transport,
    *,
    session_id: str,
    namespace: str | None,
    run_id: str,
    metadata: Mapping[str, object] | None,
    before: str,
    page_size: int,
    timeout: timedelta | None,
) -> AsyncIterator[Checkpoint]:
    """The checkpoints of a session, or of all sessions where its id is empty."""
    with Sendable("checkpoints"):
        request = ListCheckpointsRequest(
            session_id=session_id,
            namespace=namespace,
            run_id=run_id,
            metadata_json="" if metadata is None else to_json(metadata, field="metadata"),
            before=before,
            page_size=page_size,
        )
    while True:
        page = await transport.call(lambda to: to.checkpoints.ListCheckpoints, request, timeout=timeout)
        for checkpoint in page.checkpoints:
            yield await _whole(transport, checkpoint, timeout)
        if not page.next_page_token:
            return
        request.page_token = page.next_page_token


async def _whole(transport: Transport, checkpoint: Checkpoint, timeout: timedelta | None) -> Checkpoint:
    """A checkpoint of a list, with the writes that had no room in it."""
    if not checkpoint.writes_truncated:
        return checkpoint
    request = GetCheckpointRequest(
        session_id=checkpoint.session_id, namespace=checkpoint.namespace, checkpoint_id=checkpoint.checkpoint_id
    )
    try:
        page = await transport.call(lambda to: to.checkpoints.GetCheckpoint, request, timeout=timeout)
    except CheckpointNotFound:
        # Deleted since: it is given as it was listed.
        return checkpoint
    return await _with_writes(transport, page.checkpoint, page.next_writes_page_token, request, timeout)


async def _with_writes(
    transport: Transport,
    checkpoint: Checkpoint,
    page_token: str,
    request: GetCheckpointRequest,
    timeout: timedelta | None,
) -> Checkpoint:
    while page_token:
        request.writes_page_token = page_token
        page = await transport.call(lambda to: to.checkpoints.GetCheckpoint, request, timeout=timeout)
        checkpoint.writes.extend(page.checkpoint.writes)
        page_token = page.next_writes_page_token
    checkpoint.writes_truncated = False
    return checkpoint
