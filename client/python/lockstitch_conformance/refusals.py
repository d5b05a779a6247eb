"""Refused calls, and what the contract promises of each of them."""

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any

from google.rpc import error_details_pb2, status_pb2
from grpc import aio

from lockstitch_conformance.suite import Broken, holds, same

DOMAIN = "lockstitch.dev"
DETAILS = "grpc-status-details-bin"
DETAILS_BYTES_MAX = 4096

CODES = {
    reason: code
    for code, reasons in {
        "INVALID_ARGUMENT": (
            "INVALID_FIELD EXPECTED_VERSION_REQUIRED PAGE_TOKEN_INVALID MESSAGE_TOO_LARGE BATCH_TOO_LARGE"
        ),
        "UNAUTHENTICATED": "TOKEN_MISSING TOKEN_INVALID TOKEN_EXPIRED",
        "PERMISSION_DENIED": "ROLE_NOT_ALLOWED",
        "NOT_FOUND": ("SESSION_NOT_FOUND MESSAGE_NOT_FOUND RUN_NOT_FOUND TOOL_CALL_NOT_FOUND CHECKPOINT_NOT_FOUND"),
        "ALREADY_EXISTS": "SESSION_EXISTS MESSAGE_ID_EXISTS",
        "ABORTED": "VERSION_CONFLICT",
        "FAILED_PRECONDITION": (
            "SESSION_CLOSED SESSION_EXPIRED SESSION_DELETED RUN_ACTIVE RUN_FENCED RUN_ENDED TOOL_CALL_ENDED"
            " TOOL_CALL_STATUS TOOL_CALL_AMBIGUOUS REQUEST_ID_REUSED"
        ),
        "OUT_OF_RANGE": "CURSOR_AHEAD STORE_RESTORED",
        "RESOURCE_EXHAUSTED": "RATE_LIMITED QUOTA_EXCEEDED SESSION_FULL SUBSCRIPTION_LIMIT SLOW_CONSUMER",
        "UNAVAILABLE": "DRAINING OVERLOADED DATABASE_UNAVAILABLE COMMIT_OUTCOME_UNKNOWN",
        "INTERNAL": "INTERNAL",
    }.items()
    for reason in reasons.split()
}
"""The one code that each reason comes with."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a refused call was told."""

    code: str
    reason: str
    text: str
    metadata: dict[str, str]
    fields: tuple[str, ...]
    details: bytes
    """As they came, to be compared."""


async def refused(call: Awaitable[Any], reason: str, *, field: str = "", **metadata: object) -> Refusal:
    """Await a call that must be refused for this reason, naming this field and with this metadata."""
    try:
        answer = await call
    except aio.AioRpcError as error:
        refusal = taken_apart(error)
    else:
        raise Broken(f"{reason} was due, but it was done: {type(answer).__name__}")
    same(refusal.reason, reason, "the reason")
    if field:
        same(refusal.fields[:1], (field,), "the field that is named")
    for key, value in metadata.items():
        same(refusal.metadata.get(key), str(value), f"{key} of {reason}")
    return refusal


def taken_apart(error: aio.AioRpcError) -> Refusal:
    """Give the parts of a refusal, each as the contract has it."""
    code = error.code().name
    details = dict(error.trailing_metadata() or ()).get(DETAILS)
    if not isinstance(details, bytes):
        raise Broken(f"{code} came without details: {error.details()}")
    holds(len(details) < DETAILS_BYTES_MAX, f"details of {len(details)} bytes")
    status = status_pb2.Status.FromString(details)
    same((status.code, status.message), (error.code().value[0], error.details()), "the status within the details")
    infos = _unpacked(status, error_details_pb2.ErrorInfo)
    same(len(infos), 1, "the number of ErrorInfos")
    (info,) = infos
    same(info.domain, DOMAIN, "the domain")
    same(CODES.get(info.reason), code, f"the code of {info.reason}")
    fields = tuple(
        violation.field
        for refused_fields in _unpacked(status, error_details_pb2.BadRequest)
        for violation in refused_fields.field_violations
    )
    return Refusal(code, info.reason, status.message, dict(info.metadata), fields, details)


def _unpacked(status: Any, kind: Any) -> list[Any]:
    found = []
    for detail in status.details:
        message = kind()
        if detail.Is(kind.DESCRIPTOR):
            detail.Unpack(message)
            found.append(message)
    return found
