/** The lease of a run that is held here: renewed in the background, until the run ends or is somebody else's. */

import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";

import { type LockstitchError, NotFound, RunEnded, RunFenced, SessionDeleted } from "./errors.js";
import { type Fence, FenceSchema, type Run } from "./gen/lockstitch/v1/run_pb.js";
import { RunService } from "./gen/lockstitch/v1/run_service_pb.js";
import * as retries from "./retries.js";
import type { CallOptions, RetryingTransport } from "./transport.js";

/** How often a lease is renewed before it would run out. */
const RENEWALS_A_LEASE = 3;
const TIMEOUT_MIN_MS = 1000;

/** Knows what became of a run, from renewals and from what the run's own changes were told. */
export class Lease {
  /** What its changes carry. */
  readonly fence: Fence;
  /** Whether it was ended here. */
  hasEnded = false;
  /** Why it is not held here any more; undefined while it is, and where it was ended here. */
  loss: LockstitchError | undefined;

  private readonly lost = new AbortController();
  private readonly letGo = new AbortController();
  private endings = 0;
  private renewing: Promise<void> = Promise.resolve();

  constructor(
    private readonly transport: RetryingTransport,
    /** The run as it was last told. */
    public run: Run,
    private readonly leaseMs: number,
  ) {
    this.fence = create(FenceSchema, { runId: run.runId, fencingToken: run.fencingToken });
  }

  /** Aborts once it is known that the run is lost, with the error that says why. */
  get signal(): AbortSignal {
    return this.lost.signal;
  }

  /** Begins to renew; `atOnce` where nobody knows how much of the lease is left. */
  hold(atOnce: boolean): void {
    this.renewing = this.renewOn(atOnce);
  }

  /** Stops renewing. */
  async release(): Promise<void> {
    this.letGo.abort();
    await this.renewing;
  }

  /** Renews the lease now. Throws what says that it is lost. */
  async renew(options: CallOptions): Promise<Run> {
    const request = { sessionId: this.run.sessionId, fence: this.fence, lease: durationFromMs(this.leaseMs) };
    const { renewRun } = RunService.method;
    const { message } = await this.calling(false, () =>
      this.transport.unary(renewRun, options.signal, options.timeoutMs, undefined, request),
    );
    this.run = message.run!;
    return this.run;
  }

  /** Makes a call under the run; `finishes` where it is to end the run as well. */
  async calling<T>(finishes: boolean, call: () => Promise<T>): Promise<T> {
    this.refuseLost();
    this.endings += finishes ? 1 : 0;
    try {
      const answer = await call();
      this.hasEnded ||= finishes;
      return answer;
    } catch (error) {
      // A change of another run's memory may be told of that run's end.
      if ((error instanceof RunFenced || error instanceof RunEnded) && error.runId === this.run.runId) {
        this.lose(error);
      }
      throw error;
    } finally {
      this.endings -= finishes ? 1 : 0;
    }
  }

  /** Throws why the run is not held here any more, if it is not. */
  refuseLost(): void {
    if (this.loss !== undefined) {
      const { message, reason, metadata } = this.loss;
      const again = this.loss.constructor as new (message: string, failure: object) => LockstitchError;
      throw new again(message, { reason, metadata, cause: this.loss });
    }
  }

  private lose(error: LockstitchError): void {
    // While it is being ended here, its end is no loss.
    if (this.endings === 0 && !this.hasEnded && this.loss === undefined) {
      this.loss = error;
      this.lost.abort(error);
    }
  }

  private async renewOn(atOnce: boolean): Promise<void> {
    const everyMs = this.leaseMs / RENEWALS_A_LEASE;
    const { signal } = this.letGo;
    let waits = retries.Waits.ofCall();
    let waitMs = atOnce ? 0 : everyMs;
    while (await this.goesOnAfter(waitMs)) {
      try {
        await this.renew({ timeoutMs: Math.max(everyMs, TIMEOUT_MIN_MS), signal });
        waits = retries.Waits.ofCall();
        waitMs = everyMs;
      } catch (error) {
        const isOver =
          error instanceof RunFenced || error instanceof RunEnded || error instanceof NotFound || error instanceof SessionDeleted;
        if (isOver) {
          this.lose(error);
        }
        // Whatever else it is, a token that can't be had too, the lease may yet be saved.
        waitMs = isOver ? everyMs : Math.min(waits.nextMs(), everyMs);
      }
    }
  }

  private async goesOnAfter(waitMs: number): Promise<boolean> {
    try {
      await this.transport.pause(waitMs, this.letGo.signal);
    } catch {
      return false; // let go, or the client was closed
    }
    return this.loss === undefined && !this.hasEnded;
  }
}
