package dev.lockstitch;

import static java.util.Map.entry;

import dev.lockstitch.errors.AlreadyExistsException;
import dev.lockstitch.errors.BatchTooLargeException;
import dev.lockstitch.errors.CancelledException;
import dev.lockstitch.errors.CheckpointNotFoundException;
import dev.lockstitch.errors.CommitOutcomeUnknownException;
import dev.lockstitch.errors.ConflictException;
import dev.lockstitch.errors.CursorAheadException;
import dev.lockstitch.errors.DataLossException;
import dev.lockstitch.errors.DatabaseUnavailableException;
import dev.lockstitch.errors.DeadlineExceededException;
import dev.lockstitch.errors.DrainingException;
import dev.lockstitch.errors.ExpectedVersionRequiredException;
import dev.lockstitch.errors.FailedPreconditionException;
import dev.lockstitch.errors.Failure;
import dev.lockstitch.errors.InternalException;
import dev.lockstitch.errors.InvalidArgumentException;
import dev.lockstitch.errors.InvalidFieldException;
import dev.lockstitch.errors.LockstitchException;
import dev.lockstitch.errors.MessageIdExistsException;
import dev.lockstitch.errors.MessageNotFoundException;
import dev.lockstitch.errors.MessageTooLargeException;
import dev.lockstitch.errors.NotFoundException;
import dev.lockstitch.errors.OutOfRangeException;
import dev.lockstitch.errors.OverloadedException;
import dev.lockstitch.errors.PageTokenInvalidException;
import dev.lockstitch.errors.PermissionDeniedException;
import dev.lockstitch.errors.QuotaExceededException;
import dev.lockstitch.errors.RateLimitedException;
import dev.lockstitch.errors.RequestIdReusedException;
import dev.lockstitch.errors.ResourceExhaustedException;
import dev.lockstitch.errors.RoleNotAllowedException;
import dev.lockstitch.errors.RunActiveException;
import dev.lockstitch.errors.RunEndedException;
import dev.lockstitch.errors.RunFencedException;
import dev.lockstitch.errors.RunNotFoundException;
import dev.lockstitch.errors.SessionClosedException;
import dev.lockstitch.errors.SessionDeletedException;
import dev.lockstitch.errors.SessionExistsException;
import dev.lockstitch.errors.SessionExpiredException;
import dev.lockstitch.errors.SessionFullException;
import dev.lockstitch.errors.SessionNotFoundException;
import dev.lockstitch.errors.SlowConsumerException;
import dev.lockstitch.errors.StoreRestoredException;
import dev.lockstitch.errors.SubscriptionLimitException;
import dev.lockstitch.errors.TokenExpiredException;
import dev.lockstitch.errors.TokenInvalidException;
import dev.lockstitch.errors.TokenMissingException;
import dev.lockstitch.errors.ToolCallAmbiguousException;
import dev.lockstitch.errors.ToolCallEndedException;
import dev.lockstitch.errors.ToolCallNotFoundException;
import dev.lockstitch.errors.ToolCallStatusRefusedException;
import dev.lockstitch.errors.UnauthenticatedException;
import dev.lockstitch.errors.UnavailableException;
import dev.lockstitch.errors.UnimplementedException;
import dev.lockstitch.errors.UnknownException;
import dev.lockstitch.errors.VersionConflictException;
import io.grpc.Status.Code;
import java.util.Map;

/**
 * The error of each reason, by the name that the wire has for it (an {@code ErrorReason} without
 * its prefix), and of each code.
 */
final class Reasons {

  private static final Map<String, Maker> OF_REASON =
      Map.ofEntries(
          entry("INVALID_FIELD", InvalidFieldException::new),
          entry("EXPECTED_VERSION_REQUIRED", ExpectedVersionRequiredException::new),
          entry("PAGE_TOKEN_INVALID", PageTokenInvalidException::new),
          entry("MESSAGE_TOO_LARGE", MessageTooLargeException::new),
          entry("BATCH_TOO_LARGE", BatchTooLargeException::new),
          entry("TOKEN_MISSING", TokenMissingException::new),
          entry("TOKEN_INVALID", TokenInvalidException::new),
          entry("TOKEN_EXPIRED", TokenExpiredException::new),
          entry("ROLE_NOT_ALLOWED", RoleNotAllowedException::new),
          entry("SESSION_NOT_FOUND", SessionNotFoundException::new),
          entry("CHECKPOINT_NOT_FOUND", CheckpointNotFoundException::new),
          entry("TOOL_CALL_NOT_FOUND", ToolCallNotFoundException::new),
          entry("MESSAGE_NOT_FOUND", MessageNotFoundException::new),
          entry("RUN_NOT_FOUND", RunNotFoundException::new),
          entry("SESSION_EXISTS", SessionExistsException::new),
          entry("MESSAGE_ID_EXISTS", MessageIdExistsException::new),
          entry("VERSION_CONFLICT", VersionConflictException::new),
          entry("SESSION_CLOSED", SessionClosedException::new),
          entry("SESSION_EXPIRED", SessionExpiredException::new),
          entry("SESSION_DELETED", SessionDeletedException::new),
          entry("RUN_ACTIVE", RunActiveException::new),
          entry("RUN_FENCED", RunFencedException::new),
          entry("RUN_ENDED", RunEndedException::new),
          entry("TOOL_CALL_ENDED", ToolCallEndedException::new),
          entry("TOOL_CALL_STATUS", ToolCallStatusRefusedException::new),
          entry("TOOL_CALL_AMBIGUOUS", ToolCallAmbiguousException::new),
          entry("REQUEST_ID_REUSED", RequestIdReusedException::new),
          entry("CURSOR_AHEAD", CursorAheadException::new),
          entry("STORE_RESTORED", StoreRestoredException::new),
          entry("SUBSCRIPTION_LIMIT", SubscriptionLimitException::new),
          entry("SLOW_CONSUMER", SlowConsumerException::new),
          entry("RATE_LIMITED", RateLimitedException::new),
          entry("QUOTA_EXCEEDED", QuotaExceededException::new),
          entry("SESSION_FULL", SessionFullException::new),
          entry("DRAINING", DrainingException::new),
          entry("OVERLOADED", OverloadedException::new),
          entry("DATABASE_UNAVAILABLE", DatabaseUnavailableException::new),
          entry("COMMIT_OUTCOME_UNKNOWN", CommitOutcomeUnknownException::new),
          entry("INTERNAL", InternalException::new));

  private static final Map<Code, Maker> OF_CODE =
      Map.ofEntries(
          entry(Code.INVALID_ARGUMENT, InvalidArgumentException::new),
          entry(Code.UNAUTHENTICATED, UnauthenticatedException::new),
          entry(Code.PERMISSION_DENIED, PermissionDeniedException::new),
          entry(Code.NOT_FOUND, NotFoundException::new),
          entry(Code.ALREADY_EXISTS, AlreadyExistsException::new),
          entry(Code.ABORTED, ConflictException::new),
          entry(Code.FAILED_PRECONDITION, FailedPreconditionException::new),
          entry(Code.OUT_OF_RANGE, OutOfRangeException::new),
          entry(Code.RESOURCE_EXHAUSTED, ResourceExhaustedException::new),
          entry(Code.UNAVAILABLE, UnavailableException::new),
          entry(Code.INTERNAL, InternalException::new),
          entry(Code.DEADLINE_EXCEEDED, DeadlineExceededException::new),
          entry(Code.CANCELLED, CancelledException::new),
          entry(Code.UNIMPLEMENTED, UnimplementedException::new),
          entry(Code.DATA_LOSS, DataLossException::new));

  private Reasons() {}

  /**
   * An error of its reason's class, or of its code's where this client does not know the reason.
   */
  static LockstitchException error(Code code, String message, Failure failure) {
    Maker ofCode = OF_CODE.getOrDefault(code, UnknownException::new);
    return OF_REASON.getOrDefault(failure.reason(), ofCode).made(message, failure);
  }

  @FunctionalInterface
  private interface Maker {
    LockstitchException made(String message, Failure failure);
  }
}
