/**
 * What a call can fail with: one class for each reason that a server gives, under one base for each gRPC code.
 *
 * A class is chosen by the machine-readable reason, never by text. A reason that this client does not know yet gives the base of its
 * code, so that `instanceof NotFound` goes on catching what later servers add.
 *
 *     try {
 *       await session.append({ messages: [user("hello")], expectedVersion: session.version });
 *     } catch (error) {
 *       if (!(error instanceof VersionConflict)) throw error;
 *       console.log(error.expectedVersion, error.currentVersion);
 *     }
 */

import { Code } from "@connectrpc/connect";

export { Code };

/** A field that was refused: where it lies (`messages[1].parts[0].json`) and what is wrong with it. */
export interface FieldViolation {
  readonly field: string;
  readonly description: string;
}

/** What is known of a failure beside its sentence. */
export interface Failure {
  readonly reason?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly fieldViolations?: readonly FieldViolation[];
  readonly retryAfterMs?: number | undefined;
  readonly requestId?: string;
  readonly cause?: unknown;
}

/** A call failed. Every error of this package is one of these. */
export class LockstitchError extends Error {
  /** The gRPC code, fixed for each class. */
  static readonly code: Code = Code.Unknown;

  /** The reason as the server names it, such as `"VERSION_CONFLICT"`; `""` where no server of ours answered. */
  readonly reason: string;
  /** What the reason comes with, all text, such as `{ limit_bytes: "3145728" }`. */
  readonly metadata: Readonly<Record<string, string>>;
  /** The fields that were refused, for {@link InvalidArgument}; else empty. */
  readonly fieldViolations: readonly FieldViolation[];
  /** How long the server asks to be left alone; undefined where it did not say. */
  readonly retryAfterMs: number | undefined;
  /** The id of the change that failed; `""` for reads. Sending it again can never make the change twice. */
  readonly requestId: string;

  constructor(message: string, failure: Failure = {}) {
    super(message, failure.cause === undefined ? undefined : { cause: failure.cause });
    this.name = new.target.name;
    this.reason = failure.reason ?? "";
    this.metadata = { ...failure.metadata };
    this.fieldViolations = [...(failure.fieldViolations ?? [])];
    this.retryAfterMs = failure.retryAfterMs;
    this.requestId = failure.requestId ?? "";
  }

  /** The gRPC code. */
  get code(): Code {
    return (this.constructor as typeof LockstitchError).code;
  }

  /** A number of the metadata; 0 where a server left it out. */
  protected number(key: string): bigint {
    return BigInt(this.metadata[key] ?? "0");
  }
}

/** The request can't be answered, whatever the state. Thrown by this client too, before anything is sent. */
export class InvalidArgument extends LockstitchError {
  static override readonly code: Code = Code.InvalidArgument;
}

/** A field is missing, malformed or outside its range. `fieldViolations` names it. */
export class InvalidField extends InvalidArgument {}

/** A change that is computed from an old value came without a guard. */
export class ExpectedVersionRequired extends InvalidArgument {}

/** A page token was not made by this store, or for another call. */
export class PageTokenInvalid extends InvalidArgument {}

/** One message is larger than a request may be. */
export class MessageTooLarge extends InvalidArgument {
  /** The most bytes of a request's content. */
  get limitBytes(): bigint {
    return this.number("limit_bytes");
  }
}

/** A request holds too much content (`metadata.limit_bytes`) or too many items (`metadata.limit`). */
export class BatchTooLarge extends InvalidArgument {}

/** The server does not know who calls. */
export class Unauthenticated extends LockstitchError {
  static override readonly code: Code = Code.Unauthenticated;
}

/** The call came without a token. */
export class TokenMissing extends Unauthenticated {}

/** The token is malformed, forged or meant for somebody else. */
export class TokenInvalid extends Unauthenticated {}

/** The token's time has passed. A client whose `token` is a function asks it for a fresh one at every attempt. */
export class TokenExpired extends Unauthenticated {}

/** The caller may not do this. */
export class PermissionDenied extends LockstitchError {
  static override readonly code: Code = Code.PermissionDenied;
}

/** The token's role may not do or claim this. */
export class RoleNotAllowed extends PermissionDenied {}

/** There is no such thing for this caller. */
export class NotFound extends LockstitchError {
  static override readonly code: Code = Code.NotFound;
}

/** There is no such session: none at all, or somebody else's. */
export class SessionNotFound extends NotFound {}

/** There is no such message in this session. */
export class MessageNotFound extends NotFound {}

/** There is no such checkpoint in this session and namespace. */
export class CheckpointNotFound extends NotFound {}

/** A result or change names a tool call that nobody made in this session. */
export class ToolCallNotFound extends NotFound {}

/** There is no such run in this session. */
export class RunNotFound extends NotFound {}

/** The id that the caller chose is taken. */
export class AlreadyExists extends LockstitchError {
  static override readonly code: Code = Code.AlreadyExists;
}

/** The session id is taken. */
export class SessionExists extends AlreadyExists {}

/** The message id was used in this session before. */
export class MessageIdExists extends AlreadyExists {}

/** Somebody else was faster. Nothing was stored. */
export class Conflict extends LockstitchError {
  static override readonly code: Code = Code.Aborted;
}

/** The session (or its memory) is not at the version that was expected. Read what was missed, then decide. */
export class VersionConflict extends Conflict {
  /** The version that the request expected. */
  get expectedVersion(): bigint {
    return this.number("expected_version");
  }

  /** The session's version now. */
  get currentVersion(): bigint {
    return this.number("current_version");
  }

  /** The version of the commit that last changed the memory. */
  get memoryVersion(): bigint {
    return this.number("memory_version");
  }

  /** The seq of the newest message: what came after the last one you know is what you missed. */
  get lastSeq(): bigint {
    return this.number("last_seq");
  }
}

/** The state does not allow it. The same call may succeed after another one. */
export class FailedPrecondition extends LockstitchError {
  static override readonly code: Code = Code.FailedPrecondition;
}

/** The session is closed: restore it first. */
export class SessionClosed extends FailedPrecondition {}

/** The session's time has passed: restore it with a new life. */
export class SessionExpired extends FailedPrecondition {}

/** The session is deleted: undelete it first. */
export class SessionDeleted extends FailedPrecondition {}

class OfRun extends FailedPrecondition {
  /** Which run. */
  get runId(): string {
    return this.metadata["run_id"] ?? "";
  }
}

/** A run is active on the session: wait for its end, join it, interrupt it, or cancel it. */
export class RunActive extends OfRun {
  /** Until when its lease is live unless it is renewed, by the database's clock; undefined where nobody said. */
  get leaseExpireTime(): Date | undefined {
    const told = this.metadata["lease_expire_time"];
    return told === undefined || told === "" ? undefined : new Date(told);
  }
}

/** The run is not its caller's any more: somebody took it over, interrupted it or ended it. Stop acting. */
export class RunFenced extends OfRun {}

/** The run has ended. */
export class RunEnded extends OfRun {}

/** The tool call has ended with another outcome, which stays. */
export class ToolCallEnded extends FailedPrecondition {}

/** The tool call can't go from its status to the one asked for (reason `TOOL_CALL_STATUS`). */
export class ToolCallStatusRefused extends FailedPrecondition {
  /** The status that it has, such as `"RUNNING"`. */
  get status(): string {
    return this.metadata["status"] ?? "";
  }
}

/** Two open tool calls have this provider's id: name one by `toolCallId`. */
export class ToolCallAmbiguous extends FailedPrecondition {}

/** The request_id was used for other content or another method. */
export class RequestIdReused extends FailedPrecondition {}

/** The position asked for lies outside what is kept. */
export class OutOfRange extends LockstitchError {
  static override readonly code: Code = Code.OutOfRange;
}

/** A version was asked for that lies ahead of the session. */
export class CursorAhead extends OutOfRange {
  /** The session's version now; 0 where it was a draft's text that lies ahead. */
  get currentVersion(): bigint {
    return this.number("current_version");
  }
}

/** The store was restored from a backup since: versions read before may name other commits now. Read anew. */
export class StoreRestored extends OutOfRange {
  /** The epoch that the store is in now. */
  get storeEpoch(): string {
    return this.metadata["store_epoch"] ?? "";
  }
}

/** A limit is reached. */
export class ResourceExhausted extends LockstitchError {
  static override readonly code: Code = Code.ResourceExhausted;
}

/** The tenant or the subject makes more calls than it may; come again after `retryAfterMs`. */
export class RateLimited extends ResourceExhausted {
  /** How many calls a second it may make of one server process. */
  get limit(): number {
    return Number(this.metadata["limit"] ?? 0);
  }
}

/** The tenant or the user has as many sessions as it may. */
export class QuotaExceeded extends ResourceExhausted {}

/** The session holds as many messages as it may. */
export class SessionFull extends ResourceExhausted {
  /** The most messages of a session. */
  get limit(): bigint {
    return this.number("limit");
  }
}

/** As many streams are open as may be: of this user, of its tenant, or of the server. */
export class SubscriptionLimit extends ResourceExhausted {
  /** The most streams. */
  get limit(): bigint {
    return this.number("limit");
  }
}

/** A stream took nothing for so long that the server ended it. A subscription resumes by itself. */
export class SlowConsumer extends ResourceExhausted {}

/** No server could answer in the time that the call had. It was retried with the same request_id until then. */
export class Unavailable extends LockstitchError {
  static override readonly code: Code = Code.Unavailable;
}

/** The server is going away: another one answers. */
export class Draining extends Unavailable {}

/** The server had no time for the call. Nothing was done. */
export class Overloaded extends Unavailable {}

/** The server can't reach its database. Nothing was done. */
export class DatabaseUnavailable extends Unavailable {}

/** The connection was lost around the commit. The same request_id, sent again, tells; nothing is made twice. */
export class CommitOutcomeUnknown extends Unavailable {}

/** A bug of the server. */
export class Internal extends LockstitchError {
  static override readonly code: Code = Code.Internal;

  /** Under which the server's log has the cause; `""` where it did not say. */
  get incidentId(): string {
    return this.metadata["incident_id"] ?? "";
  }
}

/** No answer came within `timeoutMs`. A change may have been made: its request_id tells, sent again. */
export class DeadlineExceeded extends LockstitchError {
  static override readonly code: Code = Code.DeadlineExceeded;
}

/** The call was given up on the way, or the client is closed. */
export class Cancelled extends LockstitchError {
  static override readonly code: Code = Code.Canceled;
}

/** The server is older than this client, or is not a lockstitch server. */
export class Unimplemented extends LockstitchError {
  static override readonly code: Code = Code.Unimplemented;
}

/** The server found its data damaged. */
export class DataLoss extends LockstitchError {
  static override readonly code: Code = Code.DataLoss;
}

/** Something between client and server failed without a code of its own. */
export class Unknown extends LockstitchError {
  static override readonly code: Code = Code.Unknown;
}

class OfServer extends Unimplemented {
  /** The server's version, such as `"0.1.0"`. */
  get serverVersion(): string {
    return this.metadata["server_version"] ?? "";
  }
}

/** The server is older than `metadata.from`, the first that this client speaks with; or says no version. */
export class ServerTooOld extends OfServer {}

/** The server is of the major version `metadata.before` or later, whose wire may be another one. */
export class ServerTooNew extends OfServer {}
