/** The handle of a run that is held: changes of its session that are refused once it is somebody else's. */

import type { DescMessage, DescMethodUnary, MessageShape } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";

import { RunFenced } from "./errors.js";
import { type Run as RunInfo, RunStatus } from "./gen/lockstitch/v1/run_pb.js";
import { type FinishRunResponse, RunService } from "./gen/lockstitch/v1/run_service_pb.js";
import { SessionService } from "./gen/lockstitch/v1/session_service_pb.js";
import type { Lease } from "./lease.js";
import type { Asked, Seen } from "./session_calls.js";
import { SessionChanges } from "./session_changes.js";
import type { CallOptions, RetryingTransport } from "./transport.js";

/** How a run is ended by its holder. */
export type Outcome = "succeeded" | "failed" | "cancelled";

const STATUS_OF_OUTCOME: Readonly<Record<Outcome, RunStatus>> = {
  succeeded: RunStatus.SUCCEEDED,
  failed: RunStatus.FAILED,
  cancelled: RunStatus.CANCELLED,
};
const ERROR_BYTES_MAX = 8192;

/** What ends a run. */
export interface Finish {
  /** `"succeeded"` where it is left out. */
  readonly status?: Outcome;
  /** Why it failed or was cancelled, at most 65,536 bytes. */
  readonly error?: string;
  readonly expectedVersion?: bigint;
  readonly requestId?: string;
}

/** How a run ends, for `run.append({ finishRun: runEnd() })`. */
export function runEnd(status: Outcome = "succeeded", error = ""): { status: RunStatus; error: string } {
  return { status: STATUS_OF_OUTCOME[status], error };
}

/**
 * A run that is held here, made by `session.run` and `session.startRun`.
 *
 * It changes and reads the session as {@link Session} does, and what that has seen, this has seen too. Every change carries the run's
 * fence: once somebody else has taken the run over, interrupted or ended it, it is refused with {@link RunFenced}, and nothing is stored.
 * From the moment that this is known, everything that is asked of the run fails with it. The fence is a guard: values computed from old
 * ones need no other.
 */
export class Run extends SessionChanges {
  /** @internal */
  constructor(
    transport: RetryingTransport,
    sessionId: string,
    seen: Seen,
    private readonly lease: Lease,
    /** Whether somebody else started it: then it is left running when it is left. */
    readonly isJoined: boolean,
  ) {
    super(transport, sessionId, seen);
  }

  /** The run as it was last told: when it was started, or renewed. */
  get state(): RunInfo {
    return this.lease.run;
  }

  /** Which run. */
  get runId(): string {
    return this.lease.run.runId;
  }

  /** The token that its changes carry: higher than that of every run before it. A tool may compare it likewise. */
  get fencingToken(): bigint {
    return this.lease.run.fencingToken;
  }

  /** Whether it is known to be over, by somebody else: what was begun under it, such as a tool, should stop. */
  get isLost(): boolean {
    return this.lease.loss !== undefined;
  }

  /** Aborts when {@link isLost} becomes true, for whatever takes a signal. */
  get signal(): AbortSignal {
    return this.lease.signal;
  }

  /** Whether somebody asked it to end, as the last renewal told. */
  get cancelRequested(): boolean {
    return this.lease.run.cancelRequested;
  }

  /** Until when nobody may take it over, by the database's clock, as the last renewal told. */
  get leaseExpireTime(): Date {
    return timestampDate(this.lease.run.leaseExpireTime!);
  }

  /** Renews the lease now, and gives the run: before an act that nobody can take back, say. It is renewed in the background anyway. */
  async renew(options: CallOptions = {}): Promise<RunInfo> {
    return await this.lease.renew(options);
  }

  /** Ends the run before its body does, or otherwise than it would. Tool calls stay as they are. */
  async finish(finish: Finish = {}, options?: CallOptions): Promise<FinishRunResponse> {
    const { status, error, ...guards } = finish;
    return await this.change(RunService.method.finishRun, { ...guards, ...runEnd(status, error) }, options);
  }

  /** Any method of the wire under this run: with its fence. */
  override async call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: Asked<I>,
    options?: CallOptions,
  ): Promise<MessageShape<O>> {
    const takesFence = "fence" in method.input.field;
    const finishes =
      method.name === RunService.method.finishRun.name ||
      (method.name === SessionService.method.append.name && (request as { finishRun?: unknown }).finishRun !== undefined);
    const fenced = takesFence ? { ...request, fence: this.lease.fence } : request;
    return await this.lease.calling(finishes, () => super.call(method, fenced as Asked<I>, options));
  }

  /** Leaves the run: whoever has not ended it fails it, since an end that nobody said is no success. Used by `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      if (!this.isOver && !this.isJoined) {
        await this.finish({ status: "failed", error: "It was left before it was ended." });
      }
    } finally {
      await this.lease.release();
    }
  }

  /** @internal */
  async endWell(): Promise<void> {
    if (this.lease.hasEnded) {
      return;
    }
    if (!this.isJoined) {
      await this.finish();
    } else if (this.lease.loss instanceof RunFenced) {
      this.lease.refuseLost();
    }
  }

  /** @internal */
  async endAfter(error: unknown): Promise<void> {
    if (this.isOver || this.isJoined) {
      return;
    }
    const isCancelled = error instanceof Error && error.name === "AbortError";
    try {
      await this.finish({ status: isCancelled ? "cancelled" : "failed", error: textOf(error) });
    } catch {
      // The body's own error is the one to be seen.
    }
  }

  private get isOver(): boolean {
    return this.lease.hasEnded || this.lease.loss !== undefined;
  }
}

/** 8 KiB of an error's text, cut between characters. */
function textOf(error: unknown): string {
  const text = error instanceof Error && error.message !== "" ? `${error.name}: ${error.message}` : String(error);
  const bytes = Buffer.from(text.toWellFormed()).subarray(0, ERROR_BYTES_MAX);
  return new TextDecoder().decode(bytes, { stream: true });
}
