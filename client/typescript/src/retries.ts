/** When a failed attempt is worth another one, and after how long: one layer, within the call's own time. */

import { Code } from "@connectrpc/connect";

import type { LockstitchError } from "./errors.js";

/** The wait before the first retry, give or take a fifth. */
const INITIAL_BACKOFF_MS = 100;
/** Each further wait is this many times longer … */
const BACKOFF_MULTIPLIER = 2;
/** … up to this one. */
const MAX_BACKOFF_MS = 1000;
/** The most long wait before a subscription is resumed: there may be thousands, and all lost their server at once. */
const RESUME_BACKOFF_MAX_MS = 5000;

const RETRY_TOKENS_MAX = 1000;
const TOKEN_RATIO = 0.1;
const JITTER = 0.2;
const RESUME_JITTER = 0.8;
const CUT: ReadonlySet<Code> = new Set([Code.Canceled, Code.Internal, Code.Unknown]);

/** The tokens of a client's retries, as gRPC's retry throttling counts them. Shared by all calls of a client. */
export class RetryBudget {
  private tokens = RETRY_TOKENS_MAX;

  /** An attempt was answered, if only with another error than UNAVAILABLE. */
  succeeded(): void {
    this.tokens = Math.min(this.tokens + TOKEN_RATIO, RETRY_TOKENS_MAX);
  }

  /** An attempt was not answered. True where the budget still allows another one. */
  failed(): boolean {
    this.tokens = Math.max(this.tokens - 1, 0);
    return this.tokens > RETRY_TOKENS_MAX / 2;
  }
}

/** Waits that grow with each attempt, spread so that callers do not all come at once. */
export class Waits {
  private attempt = 0;

  private constructor(
    private readonly maxMs: number,
    private readonly jitter: number,
  ) {}

  /** Before each further attempt of a call. */
  static ofCall(): Waits {
    return new Waits(MAX_BACKOFF_MS, JITTER);
  }

  /** Before each further attempt to resume a subscription. */
  static ofResuming(): Waits {
    return new Waits(RESUME_BACKOFF_MAX_MS, RESUME_JITTER);
  }

  nextMs(): number {
    const wait = Math.min(INITIAL_BACKOFF_MS * BACKOFF_MULTIPLIER ** this.attempt, this.maxMs);
    this.attempt += 1;
    return wait * (1 - this.jitter + 2 * this.jitter * Math.random());
  }
}

/** Whether a failure may be retried. COMMIT_OUTCOME_UNKNOWN is UNAVAILABLE too: the same id tells. */
export function isRetryable(error: LockstitchError): boolean {
  return error.code === Code.Unavailable;
}

/** Whether a stream failed as a cut connection can make it, beside UNAVAILABLE: no server of ours gave a reason. */
export function isCut(error: LockstitchError): boolean {
  return error.reason === "" && CUT.has(error.code);
}

/**
 * The wait before the next attempt, or undefined for no further attempt.
 *
 * The server has the last word: a pushback replaces the backoff (a negative one forbids), RetryInfo is the least.
 */
export function waitMs(backoffMs: number, pushbackMs: number | undefined, retryAfterMs: number | undefined): number | undefined {
  if (pushbackMs !== undefined && pushbackMs < 0) {
    return undefined;
  }
  return Math.max(pushbackMs ?? backoffMs, retryAfterMs ?? 0);
}
