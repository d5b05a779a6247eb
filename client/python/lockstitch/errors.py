"""What a call can raise: one class for each reason a server gives, under one base for each gRPC code.

::

    LockstitchError
    ├── InvalidArgument      InvalidField · ExpectedVersionRequired · PageTokenInvalid · MessageTooLarge · BatchTooLarge
    ├── Unauthenticated      TokenMissing · TokenInvalid · TokenExpired
    ├── PermissionDenied     RoleNotAllowed
    ├── NotFound             SessionNotFound · MessageNotFound · CheckpointNotFound · ToolCallNotFound · RunNotFound
    ├── AlreadyExists        SessionExists · MessageIdExists
    ├── Conflict             VersionConflict
    ├── FailedPrecondition   SessionClosed · SessionExpired · SessionDeleted · RunActive · RunFenced · RunEnded
    │                        ToolCallEnded · ToolCallStatusRefused · ToolCallAmbiguous · RequestIdReused
    ├── OutOfRange           CursorAhead · StoreRestored
    ├── ResourceExhausted    RateLimited · QuotaExceeded · SessionFull · SubscriptionLimit · SlowConsumer
    ├── Unavailable          Draining · Overloaded · DatabaseUnavailable · CommitOutcomeUnknown
    ├── Internal             (the reason INTERNAL: a bug, with its incident_id)
    ├── Unimplemented        ServerTooOld · ServerTooNew
    └── DeadlineExceeded · Cancelled · DataLoss · Unknown

A class is chosen by the machine-readable reason, never by text. A reason that this client does not know yet gives the
base of its code, so ``except NotFound`` goes on catching what later servers add.

    try:
        await session.append(messages=[user("hello")], expected_version=session.version)
    except VersionConflict as conflict:
        print(conflict.expected_version, conflict.current_version)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from types import MappingProxyType
from typing import ClassVar, Self

import grpc

_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class FieldViolation:
    """A field that was refused: where it lies (``messages[1].parts[0].json``) and what is wrong with it."""

    field: str
    description: str


class LockstitchError(Exception):
    """A call failed. Every error of this package is one of these.

    Attributes:
        code: The gRPC code, fixed for each class.
        reason: The reason as the server names it, such as ``"VERSION_CONFLICT"``; ``""`` where no server of ours
            answered.
        message: One sentence for people. Not for telling errors apart.
        metadata: What the reason comes with, all text, such as ``{"limit_bytes": "3145728"}``.
        field_violations: The fields that were refused, for :class:`InvalidArgument`; else empty.
        retry_after: How long the server asks to be left alone; None where it did not say.
        request_id: The id of the change that failed; ``""`` for reads. Sending it again can never make the change
            twice.
    """

    code: ClassVar[grpc.StatusCode] = grpc.StatusCode.UNKNOWN

    def __init__(
        self,
        message: str,
        *,
        reason: str = "",
        metadata: Mapping[str, str] = _NOTHING,
        field_violations: Sequence[FieldViolation] = (),
        retry_after: timedelta | None = None,
        request_id: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason
        self.metadata = dict(metadata)
        self.field_violations = tuple(field_violations)
        self.retry_after = retry_after
        self.request_id = request_id

    def __reduce__(self) -> tuple[partial[Self], tuple[str]]:
        # Exceptions cross process pools by pickle, which knows nothing of keyword-only arguments.
        again = partial(
            type(self),
            reason=self.reason,
            metadata=self.metadata,
            field_violations=self.field_violations,
            retry_after=self.retry_after,
            request_id=self.request_id,
        )
        return again, (self.message,)

    def _number(self, key: str) -> int:
        """A number of the metadata; 0 where a server left it out."""
        return int(self.metadata.get(key, "0"))


class InvalidArgument(LockstitchError, ValueError):
    """The request can't be answered, whatever the state. Raised by this client too, before anything is sent."""

    code = grpc.StatusCode.INVALID_ARGUMENT


class InvalidField(InvalidArgument):
    """A field is missing, malformed or outside its range. ``field_violations`` names it."""


class ExpectedVersionRequired(InvalidArgument):
    """A memory change that is computed from an old value came without a guard."""


class PageTokenInvalid(InvalidArgument):
    """A page token was not made by this store, or for another call."""


class MessageTooLarge(InvalidArgument):
    """One message is larger than a request may be."""

    @property
    def limit_bytes(self) -> int:
        """The most bytes of a request's content."""
        return self._number("limit_bytes")


class BatchTooLarge(InvalidArgument):
    """A request holds too much content (``metadata["limit_bytes"]``) or too many items (``metadata["limit"]``)."""


class Unauthenticated(LockstitchError):
    """The server does not know who calls."""

    code = grpc.StatusCode.UNAUTHENTICATED


class TokenMissing(Unauthenticated):
    """The call came without a token."""


class TokenInvalid(Unauthenticated):
    """The token is malformed, forged or meant for somebody else."""


class TokenExpired(Unauthenticated):
    """The token's time has passed. A client whose ``token`` is a callable asks it for a fresh one at every call."""


class PermissionDenied(LockstitchError):
    """The caller may not do this."""

    code = grpc.StatusCode.PERMISSION_DENIED


class RoleNotAllowed(PermissionDenied):
    """The token's role may not do or claim this."""


class NotFound(LockstitchError):
    """There is no such thing for this caller."""

    code = grpc.StatusCode.NOT_FOUND


class SessionNotFound(NotFound):
    """There is no such session: none at all, or somebody else's."""


class MessageNotFound(NotFound):
    """There is no such message in this session."""


class CheckpointNotFound(NotFound):
    """There is no such checkpoint in this session and namespace."""


class ToolCallNotFound(NotFound):
    """A result or change names a tool call that nobody made in this session."""


class RunNotFound(NotFound):
    """There is no such run in this session."""


class AlreadyExists(LockstitchError):
    """The id that the caller chose is taken."""

    code = grpc.StatusCode.ALREADY_EXISTS


class SessionExists(AlreadyExists):
    """The session id is taken."""


class MessageIdExists(AlreadyExists):
    """The message id was used in this session before."""


class Conflict(LockstitchError):
    """Somebody else was faster. Nothing was stored."""

    code = grpc.StatusCode.ABORTED


class VersionConflict(Conflict):
    """The session (or its memory) is not at the version that was expected. Read what was missed, then decide."""

    @property
    def expected_version(self) -> int:
        """The version that the request expected."""
        return self._number("expected_version")

    @property
    def current_version(self) -> int:
        """The session's version now."""
        return self._number("current_version")

    @property
    def memory_version(self) -> int:
        """The version of the commit that last changed the memory."""
        return self._number("memory_version")

    @property
    def last_seq(self) -> int:
        """The seq of the newest message: what came after the last one you know is what you missed."""
        return self._number("last_seq")


class FailedPrecondition(LockstitchError):
    """The state does not allow it. The same call may succeed after another one."""

    code = grpc.StatusCode.FAILED_PRECONDITION


class SessionClosed(FailedPrecondition):
    """The session is closed: restore it first."""


class SessionExpired(FailedPrecondition):
    """The session's time has passed: restore it with a new life."""


class SessionDeleted(FailedPrecondition):
    """The session is deleted: undelete it first."""


class _OfRun(FailedPrecondition):
    @property
    def run_id(self) -> str:
        """Which run."""
        return self.metadata.get("run_id", "")


class RunActive(_OfRun):
    """A run is active on the session: wait for its end, join it, interrupt it, or cancel it."""

    @property
    def lease_expire_time(self) -> datetime | None:
        """Until when its lease is live unless it is renewed, by the database's clock; None where nobody said."""
        told = self.metadata.get("lease_expire_time", "")
        return datetime.fromisoformat(told) if told else None


class RunFenced(_OfRun):
    """The run is not its caller's any more: somebody took it over, interrupted it or ended it. Stop acting."""


class RunEnded(_OfRun):
    """The run has ended."""


class ToolCallEnded(FailedPrecondition):
    """The tool call has ended with another outcome, which stays."""


class ToolCallStatusRefused(FailedPrecondition):
    """The tool call can't go from its status to the one asked for (reason ``TOOL_CALL_STATUS``)."""

    @property
    def status(self) -> str:
        """The status that it has, such as ``"RUNNING"``."""
        return self.metadata.get("status", "")


class ToolCallAmbiguous(FailedPrecondition):
    """Two open tool calls have this provider's id: name one by ``tool_call_id``."""


class RequestIdReused(FailedPrecondition):
    """The request_id was used for other content or another method."""


class OutOfRange(LockstitchError):
    """The position asked for lies outside what is kept."""

    code = grpc.StatusCode.OUT_OF_RANGE


class CursorAhead(OutOfRange):
    """A version was asked for that lies ahead of the session."""

    @property
    def current_version(self) -> int:
        """The session's version now; 0 where it was a draft's text that lies ahead."""
        return self._number("current_version")


class StoreRestored(OutOfRange):
    """The store was restored from a backup since: versions read before may name other commits now. Read anew."""

    @property
    def store_epoch(self) -> str:
        """The epoch that the store is in now."""
        return self.metadata.get("store_epoch", "")


class ResourceExhausted(LockstitchError):
    """A limit is reached."""

    code = grpc.StatusCode.RESOURCE_EXHAUSTED


class RateLimited(ResourceExhausted):
    """The tenant or the subject makes more calls than it may; come again after ``retry_after``."""

    @property
    def limit(self) -> float:
        """How many calls a second it may make of one server process."""
        return float(self.metadata.get("limit", 0))


class QuotaExceeded(ResourceExhausted):
    """The tenant or the user has as many sessions as it may."""


class SessionFull(ResourceExhausted):
    """The session holds as many messages as it may."""

    @property
    def limit(self) -> int:
        """The most messages of a session."""
        return self._number("limit")


class SubscriptionLimit(ResourceExhausted):
    """As many streams are open as may be: of this user, of its tenant, or of the server."""

    @property
    def limit(self) -> int:
        """The most streams."""
        return self._number("limit")


class SlowConsumer(ResourceExhausted):
    """A stream took nothing for so long that the server ended it. A subscription resumes by itself."""


class Unavailable(LockstitchError):
    """No server could answer in the time that the call had. It was retried with the same request_id until then."""

    code = grpc.StatusCode.UNAVAILABLE


class Draining(Unavailable):
    """The server is going away: another one answers."""


class Overloaded(Unavailable):
    """The server had no time for the call. Nothing was done."""


class DatabaseUnavailable(Unavailable):
    """The server can't reach its database. Nothing was done."""


class CommitOutcomeUnknown(Unavailable):
    """The connection was lost around the commit. The same ``request_id``, sent again, tells; nothing is made twice."""


class Internal(LockstitchError):
    """A bug of the server."""

    code = grpc.StatusCode.INTERNAL

    @property
    def incident_id(self) -> str:
        """Under which the server's log has the cause; ``""`` where it did not say."""
        return self.metadata.get("incident_id", "")


class DeadlineExceeded(LockstitchError, TimeoutError):
    """No answer came within ``timeout``. A change may have been made: its ``request_id`` tells, sent again."""

    code = grpc.StatusCode.DEADLINE_EXCEEDED


class Cancelled(LockstitchError):
    """The call was given up on the way."""

    code = grpc.StatusCode.CANCELLED


class Unimplemented(LockstitchError):
    """The server is older than this client, or is not a lockstitch server."""

    code = grpc.StatusCode.UNIMPLEMENTED


class _ServerVersion(Unimplemented):
    @property
    def server_version(self) -> str:
        """The version that the server says it has."""
        return self.metadata.get("server_version", "")


class ServerTooOld(_ServerVersion):
    """The server lacks what this client calls: upgrade the server. Raised by ``client.check_server()``."""


class ServerTooNew(_ServerVersion):
    """The server is of a later major version: upgrade the client. Raised by ``client.check_server()``."""


class DataLoss(LockstitchError):
    """The server found its data damaged."""

    code = grpc.StatusCode.DATA_LOSS


class Unknown(LockstitchError):
    """Something between client and server failed without a code of its own."""

    code = grpc.StatusCode.UNKNOWN
