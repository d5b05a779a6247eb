/** A subscription: one session followed over as many streams as it takes, each from where the last one ended. */

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { durationMs } from "@bufbuild/protobuf/wkt";
import type { Transport } from "@connectrpc/connect";

import { Cancelled, type LockstitchError, SlowConsumer, SubscriptionLimit, TokenExpired, Unavailable } from "./errors.js";
import { SessionService } from "./gen/lockstitch/v1/session_service_pb.js";
import { type SubscribeRequest, SubscribeRequestSchema, type SubscribeResponse } from "./gen/lockstitch/v1/subscription_pb.js";
import * as retries from "./retries.js";
import type { CallOptions, RetryingTransport } from "./transport.js";

/** A stream that is silent for so many heartbeats has lost its network without a word. */
const SILENT_INTERVALS = 2.5;
/** How many attempts in a row may end before their first frame, for a reason that a further one may or may not mend. */
const REFUSALS_MAX = 3;

/** Gives frames in order, each commit once, and resumes after whatever a further attempt can mend. */
export class Subscription {
  private readonly request: SubscribeRequest;
  private readonly signal: AbortSignal | undefined;
  private readonly silenceMs: number;
  private readonly openingMs: number;
  private readonly firstOpeningEnds: number;
  private stream: Stream | undefined;
  private waitMs = 0;
  private waits: retries.Waits | undefined;
  private refusals = 0;
  private isOpen = false;
  private wasOpen = false;

  constructor(
    private readonly transport: RetryingTransport,
    request: MessageInitShape<typeof SubscribeRequestSchema>,
    heartbeatIntervalMs: number,
    options: CallOptions,
  ) {
    // It is kept up to date: it is what the next attempt sends.
    this.request = create(SubscribeRequestSchema, request);
    this.signal = options.signal;
    this.silenceMs = heartbeatIntervalMs * SILENT_INTERVALS;
    this.openingMs = options.timeoutMs ?? transport.timeoutMs;
    this.firstOpeningEnds = performance.now() + this.openingMs;
  }

  /** Whether all commits are given, and all of each. */
  get isWhole(): boolean {
    return this.request.roles.length === 0;
  }

  /** The next frame. Throws what no further attempt can mend. */
  async next(): Promise<SubscribeResponse> {
    for (;;) {
      let frame: SubscribeResponse | undefined;
      try {
        frame = await this.read();
      } catch (error) {
        this.lost(error as LockstitchError);
        continue;
      }
      if (frame === undefined) {
        this.lost(new Unavailable("The stream ended without a reason."));
      } else if (this.movesOn(frame)) {
        return frame;
      }
    }
  }

  /** Ends the stream. */
  end(): void {
    this.stream?.end();
    this.stream = undefined;
  }

  private async read(): Promise<SubscribeResponse | undefined> {
    if (this.stream === undefined) {
      this.isOpen = false;
      await this.transport.pause(this.waitMs, this.signal);
      this.stream = new Stream(this.transport, this.request, this.signal);
    }
    return await this.stream.read(this.isOpen ? this.silenceMs : this.openingMs);
  }

  /** Notes how far the stream is; false for a frame that is nobody's business, such as a commit given before. */
  private movesOn({ frame }: SubscribeResponse): boolean {
    this.isOpen = this.wasOpen = true;
    this.refusals = 0;
    if (frame.case === "opened") {
      // Not yet a reason to begin with short waits again: a server may open streams and lose them at once.
      this.request.storeEpoch = frame.value.storeEpoch;
      return true;
    }
    this.waits = undefined;
    switch (frame.case) {
      case "commit":
        if (frame.value.version <= this.request.afterVersion) {
          return false;
        }
        this.request.afterVersion = frame.value.version;
        break;
      case "caughtUp":
      case "fellBehind":
      case "heartbeat":
        this.request.afterVersion = frame.value.version;
        break;
      case "draining":
        this.request.afterVersion = frame.value.version;
        this.waitMs = frame.value.reconnectAfter === undefined ? 0 : durationMs(frame.value.reconnectAfter);
        this.end();
        break;
    }
    return frame.case !== undefined;
  }

  /** Makes ready for another attempt, or throws the error if that would be in vain. */
  private lost(error: LockstitchError): void {
    this.end();
    if (this.transport.isClosed) {
      throw new Cancelled("The client was closed during the subscription.", { cause: error });
    }
    if (this.signal?.aborted === true || !this.mayBeMended(error)) {
      throw error;
    }
    this.waits ??= retries.Waits.ofResuming();
    this.waitMs = Math.max(this.waits.nextMs(), error.retryAfterMs ?? 0);
    if (!this.wasOpen && performance.now() + this.waitMs >= this.firstOpeningEnds) {
      throw error;
    }
  }

  private mayBeMended(error: LockstitchError): boolean {
    if (error instanceof Unavailable || error instanceof SlowConsumer) {
      return true;
    }
    if (error instanceof SubscriptionLimit) {
      // The place may be taken by our own stream, of which the server does not know yet that it is dead.
      return this.wasOpen;
    }
    if (error instanceof TokenExpired || retries.isCut(error)) {
      this.refusals += 1;
      return this.refusals < REFUSALS_MAX;
    }
    return false;
  }
}

/** One stream. Nothing runs but whoever waits in {@link read}. */
class Stream {
  private readonly ending = new AbortController();
  private readonly connection: Transport;
  private readonly frames: AsyncIterator<SubscribeResponse>;

  constructor(
    private readonly transport: RetryingTransport,
    request: SubscribeRequest,
    private readonly signal: AbortSignal | undefined,
  ) {
    this.connection = transport.current;
    this.frames = opened(transport, { ...request }, this.ending.signal);
  }

  /** The next frame; undefined at the stream's end. Throws {@link Unavailable} after so long a silence. */
  async read(withinMs: number): Promise<SubscribeResponse | undefined> {
    const stop = new AbortController();
    try {
      return await Promise.race([this.frame(), this.silence(withinMs, stop.signal)]);
    } finally {
      stop.abort();
    }
  }

  end(): void {
    this.ending.abort();
  }

  private async frame(): Promise<SubscribeResponse | undefined> {
    const { done, value } = await this.frames.next();
    return done === true ? undefined : value;
  }

  private silence(withinMs: number, stop: AbortSignal): Promise<never> {
    return new Promise((_, reject) => {
      const alarm = setTimeout(() => {
        this.transport.renew(this.connection);
        reject(new Unavailable("The server was silent for longer than its heartbeats."));
      }, withinMs);
      const givenUp = (): void => reject(new Cancelled("The subscription was given up.", { cause: this.signal?.reason }));
      if (this.signal?.aborted === true) {
        givenUp();
      }
      this.signal?.addEventListener("abort", givenUp);
      stop.addEventListener("abort", () => {
        clearTimeout(alarm);
        this.signal?.removeEventListener("abort", givenUp);
      });
    });
  }
}

async function* opened(transport: RetryingTransport, request: SubscribeRequest, signal: AbortSignal): AsyncGenerator<SubscribeResponse> {
  const response = await transport.stream(SessionService.method.subscribe, signal, undefined, undefined, only(request));
  yield* response.message;
}

async function* only<T>(item: T): AsyncGenerator<T> {
  yield item;
}
