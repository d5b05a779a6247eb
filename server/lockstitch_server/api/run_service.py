"""RunService: each method converts, awaits once, converts."""

from lockstitch.v1 import run_service_pb2 as pb
from lockstitch.v1 import run_service_pb2_grpc
from lockstitch_server.api import reads
from lockstitch_server.api.changes import runs as run_changes
from lockstitch_server.api.convert import runs, sessions
from lockstitch_server.api.guard import Context
from lockstitch_server.api.requests import Requests
from lockstitch_server.api.services import Services


class RunServicer(run_service_pb2_grpc.RunServiceServicer):
    """Answers RunService's calls."""

    def __init__(self, requests: Requests, services: Services) -> None:
        """`requests` reads what calls have in common; `services` hold the rules."""
        self._requests = requests
        self._services = services

    async def StartRun(self, request: pb.StartRunRequest, context: Context) -> pb.StartRunResponse:
        """See the proto."""
        run, receipt = await self._services.runs.start(*run_changes.start_run(request, self._requests))
        response = pb.StartRunResponse()
        runs.fill(response.run, run)
        sessions.fill_receipt(response.receipt, receipt, self._services.epoch.value)
        return response

    async def RenewRun(self, request: pb.RenewRunRequest, context: Context) -> pb.RenewRunResponse:
        """See the proto."""
        response = pb.RenewRunResponse()
        runs.fill(response.run, await self._services.runs.renew(*run_changes.renew_run(request, self._requests)))
        return response

    async def CancelRun(self, request: pb.CancelRunRequest, context: Context) -> pb.CancelRunResponse:
        """See the proto."""
        change, run_id, now = run_changes.cancel_run(request, self._requests)
        run, receipt = await self._services.runs.cancel(change, run_id, now=now)
        response = pb.CancelRunResponse()
        runs.fill(response.run, run)
        sessions.fill_receipt(response.receipt, receipt, self._services.epoch.value)
        return response

    async def FinishRun(self, request: pb.FinishRunRequest, context: Context) -> pb.FinishRunResponse:
        """See the proto."""
        run, receipt = await self._services.runs.finish(*run_changes.finish_run(request, self._requests))
        response = pb.FinishRunResponse()
        runs.fill(response.run, run)
        sessions.fill_receipt(response.receipt, receipt, self._services.epoch.value)
        return response

    async def GetRun(self, request: pb.GetRunRequest, context: Context) -> pb.GetRunResponse:
        """See the proto."""
        response = pb.GetRunResponse()
        runs.fill(response.run, await self._services.runs.get(*reads.get_run(request, self._requests)))
        return response

    async def ListRuns(self, request: pb.ListRunsRequest, context: Context) -> pb.ListRunsResponse:
        """See the proto."""
        page = await self._services.runs.list(*reads.list_runs(request, self._requests))
        response = pb.ListRunsResponse(next_page_token=page.next_page_token)
        for run in page.items:
            runs.fill(response.runs.add(), run)
        return response
