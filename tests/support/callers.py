"""Callers with nothing between them and the wire but the generated stubs."""

from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

import grpc
from grpc import aio

from lockstitch.v1.admin_service_pb2_grpc import AdminServiceStub
from lockstitch.v1.checkpoint_service_pb2_grpc import CheckpointServiceStub
from lockstitch.v1.run_service_pb2_grpc import RunServiceStub
from lockstitch.v1.session_service_pb2_grpc import SessionServiceStub

CALL_SECONDS_MAX = 20.0


class Caller:
    """One caller: `caller.sessions.Append(request)`; `runs`, `checkpoints` and `admin` are the other services.

    Every call carries the token, if there is one, and a deadline, if it has none.
    """

    def __init__(self, target: str, token: str | None = None, *, alone: bool = False) -> None:
        """`alone` has a connection of its own: others share one where they call the same target."""
        self.headers = [("authorization", f"Bearer {token}")] if token else []
        """What streams are called with: only unary calls carry the token by themselves."""
        self.channel = aio.insecure_channel(
            target, options=[("grpc.use_local_subchannel_pool", int(alone))], interceptors=[_Headers(self.headers)]
        )
        self.sessions = SessionServiceStub(self.channel)
        self.runs = RunServiceStub(self.channel)
        self.checkpoints = CheckpointServiceStub(self.channel)
        self.admin = AdminServiceStub(self.channel)

    def method(self, name: str) -> Any:
        """Give a method by its name, which no two services have."""
        stubs = (self.sessions, self.runs, self.checkpoints, self.admin)
        (found,) = (getattr(stub, name) for stub in stubs if hasattr(stub, name))
        return found

    async def close(self) -> None:
        await self.channel.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()


class _Headers(aio.UnaryUnaryClientInterceptor):
    def __init__(self, headers: list[tuple[str, str]]) -> None:
        self._headers = headers

    async def intercept_unary_unary(
        self,
        continuation: Callable[[aio.ClientCallDetails, Any], Any],
        client_call_details: aio.ClientCallDetails,
        request: Any,
    ) -> Any:
        metadata = aio.Metadata(*(client_call_details.metadata or ()), *self._headers)
        details = aio.ClientCallDetails(
            method=client_call_details.method,
            timeout=client_call_details.timeout or CALL_SECONDS_MAX,
            metadata=metadata,
            credentials=client_call_details.credentials,
            wait_for_ready=client_call_details.wait_for_ready,
        )
        return await continuation(details, request)


def code_of(error: aio.AioRpcError) -> grpc.StatusCode:
    """Return the status code that a failed call ended with."""
    return error.code()
