"""Turns domain errors into statuses: the one table from kinds of errors to codes."""

import grpc
from google.protobuf.any_pb2 import Any
from google.protobuf.duration_pb2 import Duration
from google.rpc import error_details_pb2, status_pb2

from lockstitch_server import errors
from lockstitch_server.api.checks import to_duration

DOMAIN = "lockstitch.dev"
DETAILS_KEY = "grpc-status-details-bin"
PUSHBACK_KEY = "grpc-retry-pushback-ms"
_SENTENCE_CHARACTERS_MAX = 500

CODES: dict[type[errors.LockstitchError], grpc.StatusCode] = {
    errors.InvalidArgument: grpc.StatusCode.INVALID_ARGUMENT,
    errors.Unauthenticated: grpc.StatusCode.UNAUTHENTICATED,
    errors.PermissionDenied: grpc.StatusCode.PERMISSION_DENIED,
    errors.NotFound: grpc.StatusCode.NOT_FOUND,
    errors.AlreadyExists: grpc.StatusCode.ALREADY_EXISTS,
    errors.Aborted: grpc.StatusCode.ABORTED,
    errors.FailedPrecondition: grpc.StatusCode.FAILED_PRECONDITION,
    errors.OutOfRange: grpc.StatusCode.OUT_OF_RANGE,
    errors.ResourceExhausted: grpc.StatusCode.RESOURCE_EXHAUSTED,
    errors.Unavailable: grpc.StatusCode.UNAVAILABLE,
    errors.Internal: grpc.StatusCode.INTERNAL,
}


def code_of(error: errors.LockstitchError) -> grpc.StatusCode:
    """The code of an error: its kind's."""
    return next(code for kind, code in CODES.items() if isinstance(error, kind))


def trailers(error: errors.LockstitchError) -> tuple[tuple[str, str | bytes], ...]:
    """The trailing metadata of an error: its rich status, and when to come again."""
    code: int = code_of(error).value[0]
    status = status_pb2.Status(code=code, message=sentence_of(error))
    status.details.append(
        _packed(error_details_pb2.ErrorInfo(reason=error.reason, domain=DOMAIN, metadata=error.metadata))
    )
    if error.field:
        bad_request = error_details_pb2.BadRequest()
        bad_request.field_violations.add(field=error.field, description=sentence_of(error))
        status.details.append(_packed(bad_request))
    if isinstance(error, errors.QuotaExceeded):
        quota = error_details_pb2.QuotaFailure()
        quota.violations.add(subject="sessions", description=sentence_of(error))
        status.details.append(_packed(quota))
    if error.retry_after is None:
        return ((DETAILS_KEY, status.SerializeToString()),)
    delay = Duration()
    to_duration(error.retry_after, delay)
    status.details.append(_packed(error_details_pb2.RetryInfo(retry_delay=delay)))
    pushback = str(int(error.retry_after.total_seconds() * 1000))
    return ((DETAILS_KEY, status.SerializeToString()), (PUSHBACK_KEY, pushback))


def sentence_of(error: errors.LockstitchError) -> str:
    """The error's sentence, cut so that the details stay far below 4 KiB."""
    return str(error)[:_SENTENCE_CHARACTERS_MAX]


def _packed(
    detail: (
        error_details_pb2.ErrorInfo
        | error_details_pb2.BadRequest
        | error_details_pb2.QuotaFailure
        | error_details_pb2.RetryInfo
    ),
) -> Any:
    packed = Any()
    packed.Pack(detail)
    return packed
