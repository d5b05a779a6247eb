"""The domain errors: what can go wrong, as data, without a word of gRPC.

LockstitchError
├── InvalidArgument     InvalidField, ExpectedVersionRequired, PageTokenInvalid, MessageTooLarge, BatchTooLarge
├── Unauthenticated     TokenMissing, TokenInvalid, TokenExpired
├── PermissionDenied    RoleNotAllowed
├── NotFound            SessionNotFound, MessageNotFound, ToolCallNotFound, RunNotFound,
│                       CheckpointNotFound
├── AlreadyExists       SessionExists, MessageIdExists
├── Aborted             VersionConflict
├── FailedPrecondition  SessionClosed, SessionExpired, SessionDeleted, RunActive, RunFenced, RunEnded, ToolCallEnded,
│                       ToolCallStatusRefused, ToolCallAmbiguous, RequestIdReused
├── OutOfRange          CursorAhead, StoreRestored
├── ResourceExhausted   RateLimited, QuotaExceeded, SessionFull, SubscriptionLimit, SlowConsumer
├── Unavailable         Draining, Overloaded, DatabaseUnavailable, CommitOutcomeUnknown
└── Internal            InternalError

Each class that is raised has a `reason`, the name of its ErrorReason value; its parent says which kind of answer it is.
"""

from datetime import UTC, datetime, timedelta
from typing import ClassVar


class LockstitchError(Exception):
    """Something a caller did, or met, that has a reason and a sentence."""

    reason: ClassVar[str] = ""
    sentence: ClassVar[str] = ""

    def __init__(
        self,
        sentence: str = "",
        *,
        field: str = "",
        metadata: dict[str, str] | None = None,
        retry_after: timedelta | None = None,
    ) -> None:
        """`field` is the request's field that is at fault; `retry_after` is when to come again."""
        super().__init__(sentence or self.sentence)
        self.field = field
        self.metadata = metadata or {}
        self.retry_after = retry_after


class InvalidArgument(LockstitchError):
    """The request is wrong whatever the state."""


class Unauthenticated(LockstitchError):
    """Nobody knows who calls."""


class PermissionDenied(LockstitchError):
    """The caller may not."""


class NotFound(LockstitchError):
    """It is not there, for this caller."""


class AlreadyExists(LockstitchError):
    """It is there already."""


class Aborted(LockstitchError):
    """Somebody else was first."""


class FailedPrecondition(LockstitchError):
    """The state does not allow it."""


class OutOfRange(LockstitchError):
    """It lies beyond what there is."""


class ResourceExhausted(LockstitchError):
    """There is no room."""


class Unavailable(LockstitchError):
    """Not now."""


class Internal(LockstitchError):
    """A bug."""


class InvalidField(InvalidArgument):
    """A field is missing, malformed or outside its range."""

    reason = "INVALID_FIELD"

    def __init__(self, field: str, problem: str, metadata: dict[str, str] | None = None) -> None:
        """`problem` completes a sentence that begins with the field's name."""
        super().__init__(f"{field}: {problem}", field=field, metadata=metadata)


class ExpectedVersionRequired(InvalidArgument):
    """A change computed from an old value came without a guard."""

    reason = "EXPECTED_VERSION_REQUIRED"
    sentence = (
        "A value computed from what was there needs expected_version (for memory, expected_memory_version) or force."
    )


class PageTokenInvalid(InvalidArgument):
    """A page token was not made by this store, or for another call."""

    reason = "PAGE_TOKEN_INVALID"
    sentence = "page_token is not one of this call's: a token goes with the arguments of the call that gave it."

    def __init__(self) -> None:
        """It is always the field page_token."""
        super().__init__(field="page_token")


class MessageTooLarge(InvalidArgument):
    """One message is larger than a request may be."""

    reason = "MESSAGE_TOO_LARGE"


class BatchTooLarge(InvalidArgument):
    """A request holds too much content or too many items."""

    reason = "BATCH_TOO_LARGE"


class TokenMissing(Unauthenticated):
    """The call came without a token."""

    reason = "TOKEN_MISSING"
    sentence = "The call has no authorization: Bearer token."


class TokenInvalid(Unauthenticated):
    """The token is malformed, forged or meant for somebody else."""

    reason = "TOKEN_INVALID"
    sentence = "The token is not valid here."


class TokenExpired(Unauthenticated):
    """The token's time has passed."""

    reason = "TOKEN_EXPIRED"
    sentence = "The token has expired."


class RoleNotAllowed(PermissionDenied):
    """The caller's role may not do or claim this."""

    reason = "ROLE_NOT_ALLOWED"


class SessionNotFound(NotFound):
    """There is no such session for this caller: none, or somebody else's."""

    reason = "SESSION_NOT_FOUND"
    sentence = "There is no such session."


class MessageNotFound(NotFound):
    """There is no such message in this session."""

    reason = "MESSAGE_NOT_FOUND"
    sentence = "There is no such message."


class ToolCallNotFound(NotFound):
    """A result or change names a call that nobody made."""

    reason = "TOOL_CALL_NOT_FOUND"
    sentence = "There is no such tool call."


class RunNotFound(NotFound):
    """There is no such run in this session."""

    reason = "RUN_NOT_FOUND"
    sentence = "There is no such run."


class CheckpointNotFound(NotFound):
    """There is no such checkpoint in this session and namespace."""

    reason = "CHECKPOINT_NOT_FOUND"
    sentence = "There is no such checkpoint."


class SessionExists(AlreadyExists):
    """The session id is taken."""

    reason = "SESSION_EXISTS"
    sentence = "The session id is taken."


class MessageIdExists(AlreadyExists):
    """The message id was used in this session before."""

    reason = "MESSAGE_ID_EXISTS"
    sentence = "The message_id was used in this session before."


class VersionConflict(Aborted):
    """Somebody else committed first."""

    reason = "VERSION_CONFLICT"

    def __init__(
        self, *, what: str, expected_version: int, current_version: int, memory_version: int, last_seq: int
    ) -> None:
        """`what` is "session" or "memory"; the numbers are what a client needs to read what it missed."""
        actual = memory_version if what == "memory" else current_version
        super().__init__(
            f"Expected version {expected_version}, the {what} is at {actual}.",
            metadata={
                "expected_version": str(expected_version),
                "current_version": str(current_version),
                "memory_version": str(memory_version),
                "last_seq": str(last_seq),
            },
        )


class SessionClosed(FailedPrecondition):
    """The session is closed."""

    reason = "SESSION_CLOSED"
    sentence = "The session is closed."


class SessionExpired(FailedPrecondition):
    """The session's time has passed."""

    reason = "SESSION_EXPIRED"
    sentence = "The session has expired: restore it with a new expire_time or ttl that lies ahead."


class SessionDeleted(FailedPrecondition):
    """The session is deleted."""

    reason = "SESSION_DELETED"
    sentence = "The session is deleted: undelete it first."


class RunActive(FailedPrecondition):
    """A run is active on the session."""

    reason = "RUN_ACTIVE"

    def __init__(self, run_id: str, lease_expire_time: datetime) -> None:
        """Says which, and until when its lease is live."""
        until = lease_expire_time.astimezone(UTC).isoformat().replace("+00:00", "Z")
        super().__init__(
            f"The run {run_id} is active; its lease is live until {until}.",
            metadata={"run_id": run_id, "lease_expire_time": until},
        )


class RunFenced(FailedPrecondition):
    """The fence is not the active run's: somebody took over, or ended it."""

    reason = "RUN_FENCED"

    def __init__(self, run_id: str) -> None:
        """Says which run does not act any more."""
        super().__init__(
            f"The run {run_id} was fenced: it is not its holder who acts now.", metadata={"run_id": run_id}
        )


class RunEnded(FailedPrecondition):
    """The run has ended."""

    reason = "RUN_ENDED"

    def __init__(self, run_id: str) -> None:
        """Says which run."""
        super().__init__(f"The run {run_id} has ended.", metadata={"run_id": run_id})


class ToolCallEnded(FailedPrecondition):
    """The call has ended with another outcome."""

    reason = "TOOL_CALL_ENDED"
    sentence = "The tool call has ended already; its first outcome stays."


class ToolCallStatusRefused(FailedPrecondition):
    """The call can't go from its status to that one."""

    reason = "TOOL_CALL_STATUS"


class ToolCallAmbiguous(FailedPrecondition):
    """Two open calls have this provider's id."""

    reason = "TOOL_CALL_AMBIGUOUS"
    sentence = "Two open tool calls have this call_id: name one by its tool_call_id."


class RequestIdReused(FailedPrecondition):
    """The request_id was used for other content or another method."""

    reason = "REQUEST_ID_REUSED"
    sentence = "The request_id was used for another request."


class CursorAhead(OutOfRange):
    """A version lies ahead of the session, or a step ahead of its draft."""

    reason = "CURSOR_AHEAD"

    def __init__(self, current_version: int, field: str) -> None:
        """`current_version` is the newest there is."""
        sentence = f"The session is at version {current_version}."
        super().__init__(sentence, field=field, metadata={"current_version": str(current_version)})

    @classmethod
    def of_draft(cls, current_offset: int) -> "CursorAhead":
        """A step lies ahead of its draft, of which `current_offset` bytes are there."""
        error = cls(0, "offset")
        error.args = (f"The draft holds {current_offset} bytes.",)
        error.metadata = {"current_offset": str(current_offset)}
        return error


class StoreRestored(OutOfRange):
    """The store was restored from a backup since."""

    reason = "STORE_RESTORED"
    sentence = "The store was restored: it is in another epoch."

    def __init__(self, store_epoch: str) -> None:
        """`store_epoch` is the one it is in."""
        super().__init__(field="store_epoch", metadata={"store_epoch": store_epoch})


class RateLimited(ResourceExhausted):
    """The caller makes more calls a second than it may."""

    reason = "RATE_LIMITED"


class QuotaExceeded(ResourceExhausted):
    """The tenant or the user has as many sessions as it may."""

    reason = "QUOTA_EXCEEDED"
    sentence = "There are as many sessions as there may be: purge some, or have the quota raised."


class SubscriptionLimit(ResourceExhausted):
    """So many streams are open already."""

    reason = "SUBSCRIPTION_LIMIT"


class SlowConsumer(ResourceExhausted):
    """The stream took nothing for too long."""

    reason = "SLOW_CONSUMER"


class SessionFull(ResourceExhausted):
    """The session holds as many messages as it may."""

    reason = "SESSION_FULL"


class Draining(Unavailable):
    """The server is going away."""

    reason = "DRAINING"
    sentence = "The server is shutting down."


class Overloaded(Unavailable):
    """The server had no time for the call; nothing was done."""

    reason = "OVERLOADED"


class DatabaseUnavailable(Unavailable):
    """The database can't be reached; nothing was done."""

    reason = "DATABASE_UNAVAILABLE"
    sentence = "The database can't be reached."


class CommitOutcomeUnknown(Unavailable):
    """The connection was lost around the commit."""

    reason = "COMMIT_OUTCOME_UNKNOWN"
    sentence = "The connection to the database was lost around the commit: retry with the same request_id."


class InternalError(Internal):
    """A bug; the log has the cause under the incident's id."""

    reason = "INTERNAL"

    def __init__(self, incident_id: str) -> None:
        """`incident_id` is what the log line carries."""
        super().__init__(f"Something went wrong: incident {incident_id}.", metadata={"incident_id": incident_id})
