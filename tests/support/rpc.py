"""Calls that read as the RPCs do, and refusals taken apart."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeAlias
from uuid import uuid4

import grpc
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2
from grpc import aio

from lockstitch.v1 import (
    admin_service_pb2,
    checkpoint_service_pb2,
    commit_pb2,
    error_reason_pb2,
    run_service_pb2,
    session_service_pb2,
)
from support.callers import Caller

As: TypeAlias = "Callable[..., Rpc]"
Create: TypeAlias = Callable[..., Awaitable[str]]
DETAILS = "grpc-status-details-bin"
DETAILS_BYTES_MAX = 4096
ATTEMPTS = 5
BUGS = {grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN}
MODULES: tuple[Any, ...] = (session_service_pb2, run_service_pb2, checkpoint_service_pb2, admin_service_pb2)
"""The modules of every service's requests; no two services have a method of one name."""
SERVICE_OF = {
    method.name: service.full_name
    for module in MODULES
    for service in module.DESCRIPTOR.services_by_name.values()
    for method in service.methods
}


class Rpc:
    """`await rpc.Append(session_id=…, messages=[…])`: the generated stub, with a request_id where none is given."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller

    def __getattr__(self, method: str) -> Callable[..., Awaitable[Any]]:
        async def call(**fields: Any) -> Any:
            request = request_of(method)(**fields)
            if "request_id" in request.DESCRIPTOR.fields_by_name and "request_id" not in fields:
                request.request_id = uuid4().hex
            return await self.send(request)

        return call

    async def send(self, request: Message) -> Any:
        """Send a request to the method that its type is named after; retry as the shipped service config does."""
        method = self.caller.method(type(request).__name__.removesuffix("Request"))
        for _ in range(ATTEMPTS - 1):
            try:
                return await method(request)
            except aio.AioRpcError as error:
                if error.code() is not grpc.StatusCode.UNAVAILABLE:
                    raise
                pushback = dict(error.trailing_metadata() or ()).get("grpc-retry-pushback-ms", "10")
                await asyncio.sleep(int(pushback) / 1000)
        return await method(request)

    async def send_bytes(self, method: str, body: bytes) -> bytes:
        """Send bytes that need not be a request."""
        send: Any = self.caller.channel.unary_unary(f"/{SERVICE_OF[method]}/{method}")
        answer: bytes = await send(body)
        return answer


def request_of(method: str) -> Any:
    """Give the request class of a method, whichever service has it."""
    (found,) = (getattr(module, f"{method}Request") for module in MODULES if hasattr(module, f"{method}Request"))
    return found


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a refused call was told."""

    code: grpc.StatusCode
    reason: str
    text: str
    field: str
    metadata: dict[str, str]
    details: bytes

    @property
    def what(self) -> tuple[grpc.StatusCode, str]:
        return self.code, self.reason


async def refusal(call: Awaitable[Any]) -> Refusal:
    """Await a call that must be refused, and by a status as CONTRACT 16 has it."""
    try:
        answer = await call
    except aio.AioRpcError as error:
        return taken_apart(error)
    raise AssertionError(f"was not refused: {answer}")


def taken_apart(error: aio.AioRpcError) -> Refusal:
    """Check what every refusal promises, and give its parts."""
    assert error.code() not in BUGS, error
    details = dict(error.trailing_metadata() or ())[DETAILS]
    assert isinstance(details, bytes)
    assert len(details) < DETAILS_BYTES_MAX
    status = status_pb2.Status.FromString(details)
    assert (status.code, status.message) == (error.code().value[0], error.details())
    (info,) = (
        _unpacked(detail, error_details_pb2.ErrorInfo()) for detail in status.details if _is(detail, "ErrorInfo")
    )
    assert info.domain == "lockstitch.dev"
    assert f"ERROR_REASON_{info.reason}" in error_reason_pb2.ErrorReason.keys()  # noqa: SIM118 - it is no dict
    violations = [
        violation
        for detail in status.details
        if _is(detail, "BadRequest")
        for violation in _unpacked(detail, error_details_pb2.BadRequest()).field_violations
    ]
    return Refusal(
        code=error.code(),
        reason=info.reason,
        text=status.message,
        field=violations[0].field if violations else "",
        metadata=dict(info.metadata),
        details=details,
    )


async def field_refused(call: Awaitable[Any]) -> str:
    """Await a call that must be refused for one of its fields; gives the field that was named."""
    refused = await refusal(call)
    assert refused.what == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD"), refused
    assert refused.field, refused
    return refused.field


async def outcome(call: Awaitable[Any]) -> Any:
    """Await a call that may be refused: its answer, or the Refusal."""
    try:
        return await call
    except aio.AioRpcError as error:
        return taken_apart(error)


def as_replayed(receipt: commit_pb2.CommitReceipt) -> commit_pb2.CommitReceipt:
    """Give the receipt that a retry of this one's request must get, field for field."""
    again = commit_pb2.CommitReceipt()
    again.CopyFrom(receipt)
    again.replayed = True
    return again


def _is(detail: Any, name: str) -> bool:
    return bool(detail.TypeName() == f"google.rpc.{name}")


def _unpacked(detail: Any, into: Any) -> Any:
    assert detail.Unpack(into)
    return into
