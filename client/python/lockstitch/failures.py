"""From a failed call to the error that says why: the trailing google.rpc.Status, read by reason and never by text."""

from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType

import grpc
from google.protobuf.message import DecodeError
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status

from lockstitch import errors
from lockstitch.errors import FieldViolation, LockstitchError

DOMAIN = "lockstitch.dev"
"""The ErrorInfo domain of the reasons that this package knows."""

_DETAILS = "grpc-status-details-bin"
_PUSHBACK = "grpc-retry-pushback-ms"

CLASS_OF_REASON: Mapping[str, type[LockstitchError]] = MappingProxyType(
    {
        "INVALID_FIELD": errors.InvalidField,
        "EXPECTED_VERSION_REQUIRED": errors.ExpectedVersionRequired,
        "PAGE_TOKEN_INVALID": errors.PageTokenInvalid,
        "MESSAGE_TOO_LARGE": errors.MessageTooLarge,
        "BATCH_TOO_LARGE": errors.BatchTooLarge,
        "TOKEN_MISSING": errors.TokenMissing,
        "TOKEN_INVALID": errors.TokenInvalid,
        "TOKEN_EXPIRED": errors.TokenExpired,
        "ROLE_NOT_ALLOWED": errors.RoleNotAllowed,
        "SESSION_NOT_FOUND": errors.SessionNotFound,
        "CHECKPOINT_NOT_FOUND": errors.CheckpointNotFound,
        "TOOL_CALL_NOT_FOUND": errors.ToolCallNotFound,
        "MESSAGE_NOT_FOUND": errors.MessageNotFound,
        "RUN_NOT_FOUND": errors.RunNotFound,
        "SESSION_EXISTS": errors.SessionExists,
        "MESSAGE_ID_EXISTS": errors.MessageIdExists,
        "VERSION_CONFLICT": errors.VersionConflict,
        "SESSION_CLOSED": errors.SessionClosed,
        "SESSION_EXPIRED": errors.SessionExpired,
        "SESSION_DELETED": errors.SessionDeleted,
        "RUN_ACTIVE": errors.RunActive,
        "RUN_FENCED": errors.RunFenced,
        "RUN_ENDED": errors.RunEnded,
        "TOOL_CALL_ENDED": errors.ToolCallEnded,
        "TOOL_CALL_STATUS": errors.ToolCallStatusRefused,
        "TOOL_CALL_AMBIGUOUS": errors.ToolCallAmbiguous,
        "REQUEST_ID_REUSED": errors.RequestIdReused,
        "CURSOR_AHEAD": errors.CursorAhead,
        "STORE_RESTORED": errors.StoreRestored,
        "SUBSCRIPTION_LIMIT": errors.SubscriptionLimit,
        "SLOW_CONSUMER": errors.SlowConsumer,
        "RATE_LIMITED": errors.RateLimited,
        "QUOTA_EXCEEDED": errors.QuotaExceeded,
        "SESSION_FULL": errors.SessionFull,
        "DRAINING": errors.Draining,
        "OVERLOADED": errors.Overloaded,
        "DATABASE_UNAVAILABLE": errors.DatabaseUnavailable,
        "COMMIT_OUTCOME_UNKNOWN": errors.CommitOutcomeUnknown,
        "INTERNAL": errors.Internal,
    }
)
"""The class of each reason, by the name that the wire has for it (an ``ErrorReason`` without its prefix)."""

CLASS_OF_CODE: Mapping[grpc.StatusCode, type[LockstitchError]] = MappingProxyType(
    {
        base.code: base
        for base in (
            errors.InvalidArgument,
            errors.Unauthenticated,
            errors.PermissionDenied,
            errors.NotFound,
            errors.AlreadyExists,
            errors.Conflict,
            errors.FailedPrecondition,
            errors.OutOfRange,
            errors.ResourceExhausted,
            errors.Unavailable,
            errors.Internal,
            errors.DeadlineExceeded,
            errors.Cancelled,
            errors.Unimplemented,
            errors.DataLoss,
            errors.Unknown,
        )
    }
)
"""The base class of each code, for reasons that a later server may add."""


def error_of(failure: grpc.aio.AioRpcError, *, request_id: str = "") -> LockstitchError:
    """The typed error of a failed call; ``request_id`` is that of the change it was, if it was one."""
    stated, info = ErrorInfo(), ErrorInfo()
    violations: list[FieldViolation] = []
    retry_after = None
    for detail in _status(failure).details:
        retry, refused = RetryInfo(), BadRequest()
        if detail.Unpack(retry):
            retry_after = retry.retry_delay.ToTimedelta()
        elif detail.Unpack(refused):
            violations += [FieldViolation(entry.field, entry.description) for entry in refused.field_violations]
        elif detail.Unpack(stated) and stated.domain == DOMAIN:
            info = stated
    kind = CLASS_OF_REASON.get(info.reason) or CLASS_OF_CODE.get(failure.code(), errors.Unknown)
    return kind(
        failure.details() or failure.code().name,
        reason=info.reason,
        metadata=info.metadata,
        field_violations=violations,
        retry_after=retry_after,
        request_id=request_id,
    )


def pushback(failure: grpc.aio.AioRpcError) -> timedelta | None:
    """How long the server wants a retry to wait; negative where it wants none at all; None where it did not say."""
    for key, value in failure.trailing_metadata() or ():
        if key == _PUSHBACK:
            try:
                return timedelta(milliseconds=int(value))
            except (ValueError, OverflowError):
                # As gRPC itself reads what it can't read; it hands that on as a number that no timedelta holds.
                return timedelta(milliseconds=-1)
    return None


def _status(failure: grpc.aio.AioRpcError) -> Status:
    """The rich status in the trailers; an empty one where there is none that can be read."""
    for key, value in failure.trailing_metadata() or ():
        if key == _DETAILS and isinstance(value, bytes):
            try:
                return Status.FromString(value)
            except DecodeError:
                return Status()  # a proxy's own; the code still tells
    return Status()
