/** The handle of one session: everything that can be done to it, over the client that gave it. */

import { createHash } from "node:crypto";

import { durationFromMs } from "@bufbuild/protobuf/wkt";

import { DraftsShown } from "./drafts_shown.js";
import type { Commit } from "./gen/lockstitch/v1/commit_pb.js";
import { type CancelRunRequestSchema, type CancelRunResponse, OnBusy, RunService } from "./gen/lockstitch/v1/run_service_pb.js";
import {
  type CloseSessionRequestSchema,
  type CloseSessionResponse,
  type DeleteSessionRequestSchema,
  type DeleteSessionResponse,
  type ForkSessionRequestSchema,
  type RestoreSessionRequestSchema,
  type RestoreSessionResponse,
  SessionService,
  type UndeleteSessionRequestSchema,
  type UndeleteSessionResponse,
} from "./gen/lockstitch/v1/session_service_pb.js";
import type { Draft, SubscribeRequestSchema, SubscribeResponse } from "./gen/lockstitch/v1/subscription_pb.js";
import { Lease } from "./lease.js";
import { Run } from "./run.js";
import { type Asked, Seen } from "./session_calls.js";
import { SessionChanges } from "./session_changes.js";
import { Subscription } from "./subscription.js";
import { type CallOptions, newRequestId } from "./transport.js";

const { method: sessions } = SessionService;
const LEASE_MS = 30_000;
const HEARTBEAT_INTERVAL_MS = 15_000;

/** What happens where a run is active. */
export type WhenBusy = "reject" | "join" | "interrupt";

const ON_BUSY: Readonly<Record<WhenBusy, OnBusy>> = { reject: OnBusy.REJECT, join: OnBusy.JOIN, interrupt: OnBusy.INTERRUPT };

/** How a run is started. */
export interface RunOptions extends CallOptions {
  /** Who holds it, in your words, at most 128 characters. */
  readonly worker?: string;
  /** How long it is safe from takeover without being renewed, 1 second to 1 hour. Defaults to 30 seconds. */
  readonly leaseMs?: number;
  /**
   * Where a run is active: `"reject"` fails with {@link RunActive}, `"join"` gives that run, `"interrupt"` ends it as SUPERSEDED, so
   * that its holder is fenced. Defaults to `"reject"`.
   */
  readonly onBusy?: WhenBusy;
  /** At most 64, kept with the run. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Your own id for it, used once in its session; the server makes one otherwise. Joining a run by its own id takes it up as yours. */
  readonly runId?: string;
  readonly expectedVersion?: bigint;
  readonly requestId?: string;
}

/** What is followed of a session. */
export interface SubscribeOptions extends CallOptions, Pick<Asked<typeof SubscribeRequestSchema>, "roles" | "storeEpoch"> {
  /** Commits with a greater version; 0n gives all. Left out, it goes on behind what this handle has seen. */
  readonly afterVersion?: bigint;
  /** How long the server may be silent, 1 second to 1 hour; a dead connection is noticed after two and a half. Defaults to 15 seconds. */
  readonly heartbeatIntervalMs?: number;
}

/** One session, as its client sees it. Made by `client.create`, `client.get` and `client.session`. */
export class Session extends SessionChanges {
  /** Closes the session: it takes no more changes until it is restored. Closing a closed one changes nothing. */
  async close(request: Asked<typeof CloseSessionRequestSchema> = {}, options?: CallOptions): Promise<CloseSessionResponse> {
    return await this.change(sessions.closeSession, request, options);
  }

  /** Makes a closed or expired session active again. Restoring an active one changes nothing. */
  async restore(request: Asked<typeof RestoreSessionRequestSchema> = {}, options?: CallOptions): Promise<RestoreSessionResponse> {
    return await this.change(sessions.restoreSession, request, options);
  }

  /** Deletes the session: only who asks for deleted ones still sees it, until its `purgeTime`. Deleting a deleted one changes nothing. */
  async delete(request: Asked<typeof DeleteSessionRequestSchema> = {}, options?: CallOptions): Promise<DeleteSessionResponse> {
    return await this.change(sessions.deleteSession, request, options);
  }

  /** Makes a deleted session what it was. */
  async undelete(request: Asked<typeof UndeleteSessionRequestSchema> = {}, options?: CallOptions): Promise<UndeleteSessionResponse> {
    return await this.change(sessions.undeleteSession, request, options);
  }

  /** Makes a session of its own out of this one, as it is or was. */
  async fork(request: Asked<typeof ForkSessionRequestSchema> = {}, options?: CallOptions): Promise<Session> {
    const response = await this.call(sessions.forkSession, request, options);
    const seen = new Seen();
    seen.made(response.receipt!, {});
    seen.note(response.session);
    return new Session(this.transport, response.session!.sessionId, seen);
  }

  /** Asks a run to end: its holder sees `run.cancelRequested` when it renews. With `now` it is ended and fenced at once. */
  async cancelRun(request: Asked<typeof CancelRunRequestSchema>, options?: CallOptions): Promise<CancelRunResponse> {
    return await this.change(RunService.method.cancelRun, request, options);
  }

  /**
   * Holds a run while a body works: started here, renewed in the background, ended with the body.
   *
   * It ends as SUCCEEDED where the body ends, as FAILED with the error's text (8 KiB of it) where it throws, as CANCELLED where that was
   * an AbortError; or earlier, as `run.finish()` or `run.append({ finishRun })` says. Where it can't be ended after an error its lease runs
   * out. A run that was joined is renewed and fenced like
   * one's own, but left running: who started it ends it. Fails with {@link RunFenced} where somebody else took over meanwhile.
   *
   *     await session.run({ worker: "engine-1" }, async (run) => {
   *       await run.append({ messages: [assistant("Done.")] });
   *     });
   */
  async run<T>(options: RunOptions, body: (run: Run) => Promise<T>): Promise<T> {
    const { run, lease } = await this.started(options);
    try {
      const result = await this.during(run, body);
      await run.endWell();
      return result;
    } finally {
      await lease.release();
    }
  }

  /**
   * The same run without a body, for `await using`: it is renewed until it is finished or left. Say how it ended; one that is left
   * before ends as FAILED.
   *
   *     await using run = await session.startRun({ worker: "engine-1" });
   *     await run.append({ messages: [assistant("Done.")], finishRun: runEnd() });
   */
  async startRun(options: RunOptions = {}): Promise<Run> {
    return (await this.started(options)).run;
  }

  /**
   * The session's commits behind a version, then each as it is made, for as long as you go on.
   *
   * Each commit comes once and whole, in order of version, none is left out, whatever happens to servers, their database and the network
   * meanwhile: a lost stream is resumed behind the last commit. Leave the loop, or abort the signal, to end it. {@link version} moves on
   * with each commit, but not where `roles` hide some.
   *
   *     for await (const commit of session.subscribe({ afterVersion: 0n })) console.log(commit.version, commit.messages);
   */
  async *subscribe(options: SubscribeOptions = {}): AsyncGenerator<Commit, void> {
    for await (const { frame } of this.frames(options)) {
      if (frame.case === "commit") {
        yield frame.value;
      }
    }
  }

  /**
   * The same, and text that is being generated too: the pieces of a draft follow on one another from its beginning, none twice. They are
   * outside of what is promised of commits: the commit that ends a draft holds the message whole.
   */
  async *subscribeWithDrafts(options: SubscribeOptions = {}): AsyncGenerator<Commit | Draft, void> {
    const shown = new DraftsShown();
    for await (const { frame } of this.frames(options)) {
      if (frame.case === "commit") {
        shown.end(frame.value);
        yield frame.value;
      } else if (frame.case === "draft") {
        const piece = shown.newPart(frame.value);
        if (piece !== undefined) {
          yield piece;
        }
      }
    }
  }

  /** The same, with every frame that the server sends, for those who show whether they are live. */
  async *frames(options: SubscribeOptions = {}): AsyncGenerator<SubscribeResponse, void> {
    const { afterVersion, heartbeatIntervalMs = HEARTBEAT_INTERVAL_MS, roles = [], storeEpoch = "", ...call } = options;
    const request = {
      sessionId: this.sessionId,
      afterVersion: afterVersion ?? this.version,
      storeEpoch,
      roles,
      heartbeatInterval: durationFromMs(heartbeatIntervalMs),
    };
    const subscription = new Subscription(this.transport, request, heartbeatIntervalMs, call);
    try {
      for (;;) {
        const response = await subscription.next();
        if (response.frame.case === "commit") {
          this.follows(response.frame.value, subscription);
        }
        yield response;
      }
    } finally {
      subscription.end();
    }
  }

  private follows(commit: Commit, subscription: Subscription): void {
    if (subscription.isWhole) {
      this.seen.upTo(commit.version);
    }
    this.seen.note(commit.session);
  }

  private async started(options: RunOptions): Promise<{ run: Run; lease: Lease }> {
    const { worker = "", leaseMs = LEASE_MS, onBusy = "reject", labels = {}, requestId = newRequestId(), ...rest } = options;
    // A name made here, the same for a retry, tells another run in the answer: a joined one's.
    const runId = rest.runId ?? (onBusy === "join" ? nameOf(this.sessionId, requestId) : "");
    const guard = rest.expectedVersion === undefined ? {} : { expectedVersion: rest.expectedVersion };
    const request = { requestId, ...guard, runId, worker, lease: durationFromMs(leaseMs), onBusy: ON_BUSY[onBusy], labels: { ...labels } };
    const { run: info, receipt } = await this.call(RunService.method.startRun, request, rest);
    const isJoined = onBusy === "join" && info!.runId !== runId;
    if (!isJoined && info!.startedVersion === receipt!.version) {
      this.seen.made(receipt!, guard);
    }
    const lease = new Lease(this.transport, info!, leaseMs);
    // Of a lease that was granted before now, nobody knows how much is left.
    lease.hold(onBusy === "join" || receipt!.replayed);
    return { run: new Run(this.transport, this.sessionId, this.seen, lease, isJoined), lease };
  }

  private async during<T>(run: Run, body: (run: Run) => Promise<T>): Promise<T> {
    try {
      return await body(run);
    } catch (error) {
      await run.endAfter(error);
      throw error;
    }
  }
}

function nameOf(sessionId: string, requestId: string): string {
  return `run_${createHash("sha256").update(`${sessionId} ${requestId}`).digest("hex").slice(0, 32)}`;
}
