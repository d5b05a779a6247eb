/** From a failed call to the error that says why: the trailing google.rpc.Status, read by reason and never by text. */

import { durationMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";

import * as errors from "./errors.js";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "./gen/google/rpc/error_details_pb.js";

/** The ErrorInfo domain of the reasons that this package knows. */
export const DOMAIN = "lockstitch.dev";

type ErrorClass = new (message: string, failure?: errors.Failure) => errors.LockstitchError;

/** The class of each reason, by the name that the wire has for it (an `ErrorReason` without its prefix). */
export const CLASS_OF_REASON: ReadonlyMap<string, ErrorClass> = new Map<string, ErrorClass>([
  ["INVALID_FIELD", errors.InvalidField],
  ["EXPECTED_VERSION_REQUIRED", errors.ExpectedVersionRequired],
  ["PAGE_TOKEN_INVALID", errors.PageTokenInvalid],
  ["MESSAGE_TOO_LARGE", errors.MessageTooLarge],
  ["BATCH_TOO_LARGE", errors.BatchTooLarge],
  ["TOKEN_MISSING", errors.TokenMissing],
  ["TOKEN_INVALID", errors.TokenInvalid],
  ["TOKEN_EXPIRED", errors.TokenExpired],
  ["ROLE_NOT_ALLOWED", errors.RoleNotAllowed],
  ["SESSION_NOT_FOUND", errors.SessionNotFound],
  ["CHECKPOINT_NOT_FOUND", errors.CheckpointNotFound],
  ["TOOL_CALL_NOT_FOUND", errors.ToolCallNotFound],
  ["MESSAGE_NOT_FOUND", errors.MessageNotFound],
  ["RUN_NOT_FOUND", errors.RunNotFound],
  ["SESSION_EXISTS", errors.SessionExists],
  ["MESSAGE_ID_EXISTS", errors.MessageIdExists],
  ["VERSION_CONFLICT", errors.VersionConflict],
  ["SESSION_CLOSED", errors.SessionClosed],
  ["SESSION_EXPIRED", errors.SessionExpired],
  ["SESSION_DELETED", errors.SessionDeleted],
  ["RUN_ACTIVE", errors.RunActive],
  ["RUN_FENCED", errors.RunFenced],
  ["RUN_ENDED", errors.RunEnded],
  ["TOOL_CALL_ENDED", errors.ToolCallEnded],
  ["TOOL_CALL_STATUS", errors.ToolCallStatusRefused],
  ["TOOL_CALL_AMBIGUOUS", errors.ToolCallAmbiguous],
  ["REQUEST_ID_REUSED", errors.RequestIdReused],
  ["CURSOR_AHEAD", errors.CursorAhead],
  ["STORE_RESTORED", errors.StoreRestored],
  ["SUBSCRIPTION_LIMIT", errors.SubscriptionLimit],
  ["SLOW_CONSUMER", errors.SlowConsumer],
  ["RATE_LIMITED", errors.RateLimited],
  ["QUOTA_EXCEEDED", errors.QuotaExceeded],
  ["SESSION_FULL", errors.SessionFull],
  ["DRAINING", errors.Draining],
  ["OVERLOADED", errors.Overloaded],
  ["DATABASE_UNAVAILABLE", errors.DatabaseUnavailable],
  ["COMMIT_OUTCOME_UNKNOWN", errors.CommitOutcomeUnknown],
  ["INTERNAL", errors.Internal],
]);

const CLASS_OF_CODE: ReadonlyMap<Code, ErrorClass> = new Map<Code, ErrorClass>([
  [Code.InvalidArgument, errors.InvalidArgument],
  [Code.Unauthenticated, errors.Unauthenticated],
  [Code.PermissionDenied, errors.PermissionDenied],
  [Code.NotFound, errors.NotFound],
  [Code.AlreadyExists, errors.AlreadyExists],
  [Code.Aborted, errors.Conflict],
  [Code.FailedPrecondition, errors.FailedPrecondition],
  [Code.OutOfRange, errors.OutOfRange],
  [Code.ResourceExhausted, errors.ResourceExhausted],
  [Code.Unavailable, errors.Unavailable],
  [Code.Internal, errors.Internal],
  [Code.DeadlineExceeded, errors.DeadlineExceeded],
  [Code.Canceled, errors.Cancelled],
  [Code.Unimplemented, errors.Unimplemented],
  [Code.DataLoss, errors.DataLoss],
  [Code.Unknown, errors.Unknown],
]);

/** The codes that connect-node has for a connection that broke off, by how it broke. No server gave them. */
const CODES_OF_A_CUT: ReadonlySet<Code> = new Set([Code.Canceled, Code.Aborted, Code.Internal, Code.InvalidArgument, Code.Unavailable]);

/** What became of an attempt that failed. */
export interface FailedAttempt {
  readonly error: errors.LockstitchError;
  /** How long the server wants a retry to wait; negative where it wants none at all; undefined where it did not say. */
  readonly pushbackMs: number | undefined;
}

/**
 * The typed error of a failed attempt.
 *
 * `isGivenUp` says that the caller itself ended it: then whatever the connection made of that is no trouble of the network.
 */
export function failedAttempt(failure: unknown, requestId: string, isGivenUp: boolean): FailedAttempt {
  if (failure instanceof errors.LockstitchError) {
    return { error: failure, pushbackMs: undefined };
  }
  const told = ConnectError.from(failure);
  if (isGivenUp) {
    return { error: new errors.Cancelled("The call was given up.", { requestId, cause: failure }), pushbackMs: undefined };
  }
  if (isCut(told)) {
    return { error: new errors.Unavailable(told.rawMessage, { requestId, cause: failure }), pushbackMs: undefined };
  }
  return { error: errorOf(told, requestId), pushbackMs: pushbackMs(told) };
}

/** Whether no server answered at all: nothing came, not even a status. */
function isCut(told: ConnectError): boolean {
  return CODES_OF_A_CUT.has(told.code) && [...told.metadata.keys()].length === 0;
}

function errorOf(told: ConnectError, requestId: string): errors.LockstitchError {
  const info = told.findDetails(ErrorInfoSchema).find((one) => one.domain === DOMAIN);
  const delay = told.findDetails(RetryInfoSchema)[0]?.retryDelay;
  const violations = told.findDetails(BadRequestSchema).flatMap((refused) => refused.fieldViolations);
  const kind = CLASS_OF_REASON.get(info?.reason ?? "") ?? CLASS_OF_CODE.get(told.code) ?? errors.Unknown;
  return new kind(told.rawMessage === "" ? (Code[told.code] ?? "unknown") : told.rawMessage, {
    reason: info?.reason ?? "",
    metadata: info?.metadata ?? {},
    fieldViolations: violations.map(({ field, description }) => ({ field, description })),
    retryAfterMs: delay === undefined ? undefined : durationMs(delay),
    requestId,
    cause: told,
  });
}

function pushbackMs(told: ConnectError): number | undefined {
  const said = told.metadata.get("grpc-retry-pushback-ms");
  if (said === null) {
    return undefined;
  }
  // As gRPC itself reads what it can't read: no retry.
  return /^\d{1,9}$/.test(said) ? Number(said) : -1;
}
