"""CheckpointService: each method converts, awaits once, converts."""

from lockstitch.v1 import checkpoint_service_pb2 as pb
from lockstitch.v1 import checkpoint_service_pb2_grpc
from lockstitch_server.api import checkpoint_reads
from lockstitch_server.api.changes import checkpoints as changes
from lockstitch_server.api.convert import checkpoints, sessions
from lockstitch_server.api.guard import Context
from lockstitch_server.api.requests import Requests, taken
from lockstitch_server.api.services import Services


class CheckpointServicer(checkpoint_service_pb2_grpc.CheckpointServiceServicer):
    """Answers CheckpointService's calls."""

    def __init__(self, requests: Requests, services: Services) -> None:
        """`requests` reads what calls have in common; `services` hold the rules."""
        self._requests = requests
        self._services = services

    async def PutCheckpoint(self, request: pb.PutCheckpointRequest, context: Context) -> pb.PutCheckpointResponse:
        """See the proto."""
        change, new, create = await taken(changes.put_checkpoint, request, self._requests)
        receipt = await self._services.checkpoints.put(change, new, create)
        response = pb.PutCheckpointResponse()
        sessions.fill_receipt(response.receipt, receipt, self._services.epoch.value)
        return response

    async def PutCheckpointWrites(
        self, request: pb.PutCheckpointWritesRequest, context: Context
    ) -> pb.PutCheckpointWritesResponse:
        """See the proto."""
        await self._services.checkpoints.put_writes(*changes.put_checkpoint_writes(request, self._requests))
        return pb.PutCheckpointWritesResponse()

    async def GetCheckpoint(self, request: pb.GetCheckpointRequest, context: Context) -> pb.GetCheckpointResponse:
        """See the proto."""
        answer = await self._services.checkpoints.get(checkpoint_reads.get_checkpoint(request, self._requests))
        response = pb.GetCheckpointResponse(
            next_writes_page_token=answer.next_writes_page_token,
            next_ancestors_page_token=answer.next_ancestors_page_token,
        )
        checkpoints.fill(response.checkpoint, answer.checkpoint)
        for ancestor in answer.ancestors:
            checkpoints.fill(response.ancestors.add(), ancestor)
        return response

    async def ListCheckpoints(self, request: pb.ListCheckpointsRequest, context: Context) -> pb.ListCheckpointsResponse:
        """See the proto."""
        asked = checkpoint_reads.list_checkpoints(request, self._requests)
        page = await self._services.checkpoints.list(*asked)
        response = pb.ListCheckpointsResponse(next_page_token=page.next_page_token)
        for checkpoint in page.items:
            checkpoints.fill(response.checkpoints.add(), checkpoint)
        return response

    async def CopyCheckpoints(self, request: pb.CopyCheckpointsRequest, context: Context) -> pb.CopyCheckpointsResponse:
        """See the proto."""
        copied, receipt = await self._services.checkpoints.copy(*changes.copy_checkpoints(request, self._requests))
        response = pb.CopyCheckpointsResponse(copied=copied)
        sessions.fill_receipt(response.receipt, receipt, self._services.epoch.value)
        return response

    async def DeleteCheckpoints(
        self, request: pb.DeleteCheckpointsRequest, context: Context
    ) -> pb.DeleteCheckpointsResponse:
        """See the proto."""
        deleted, receipt = await self._services.checkpoints.delete(*changes.delete_checkpoints(request, self._requests))
        response = pb.DeleteCheckpointsResponse(deleted=deleted)
        sessions.fill_receipt(response.receipt, receipt, self._services.epoch.value)
        return response
