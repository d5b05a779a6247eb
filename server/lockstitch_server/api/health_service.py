"""gRPC's health service: serving until the server stops, and then no watch that would keep it from stopping."""

import asyncio
from collections.abc import AsyncGenerator, Iterable

import grpc
from grpc_health.v1 import health_pb2 as pb
from grpc_health.v1 import health_pb2_grpc

from lockstitch_server.api.guard import Context

_SERVING, _NOT_SERVING = pb.HealthCheckResponse.SERVING, pb.HealthCheckResponse.NOT_SERVING
_UNKNOWN = pb.HealthCheckResponse.SERVICE_UNKNOWN


class Health(health_pb2_grpc.HealthServicer):
    """Unlike grpcio's own, it waits for no watcher: one that took nothing would keep the server from stopping."""

    def __init__(self, services: Iterable[str]) -> None:
        """The services that are served from the start; the empty name means the server."""
        self._services = {"", *services}
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """Say from now on that nothing is served, and end the watches."""
        self._stopping.set()

    async def Check(self, request: pb.HealthCheckRequest, context: Context) -> pb.HealthCheckResponse:
        """See the proto."""
        if request.service not in self._services:
            await context.abort(grpc.StatusCode.NOT_FOUND, "There is no such service.")
        return pb.HealthCheckResponse(status=self._status(request.service))

    async def Watch(
        self, request: pb.HealthCheckRequest, context: Context
    ) -> AsyncGenerator[pb.HealthCheckResponse, None]:
        """See the proto."""
        if not self._stopping.is_set():
            yield pb.HealthCheckResponse(status=self._status(request.service))
            await self._stopping.wait()
        yield pb.HealthCheckResponse(status=self._status(request.service))

    def _status(self, service: str) -> int:
        if service not in self._services:
            return _UNKNOWN
        return _NOT_SERVING if self._stopping.is_set() else _SERVING
