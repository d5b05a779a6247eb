/** The one way out: every call of a client goes through here, with its token, its request_id and its retries. */

import { randomBytes } from "node:crypto";
import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

import type { DescMessage, DescMethodStreaming, DescMethodUnary, MessageInitShape } from "@bufbuild/protobuf";
import { create, toBinary } from "@bufbuild/protobuf";
import type { ContextValues, StreamResponse, Transport, UnaryResponse } from "@connectrpc/connect";

import { Connection } from "./connection.js";
import type { Endpoint } from "./endpoint.js";
import { Cancelled, InvalidArgument, InvalidField, type LockstitchError } from "./errors.js";
import { failedAttempt } from "./failures.js";
import * as retries from "./retries.js";
import { refuseLoneSurrogates } from "./wire.js";

/** A token, or a function that gives a fresh one; undefined where a client certificate says who calls. */
export type TokenSource = string | (() => string | Promise<string>) | undefined;

type HeadersGiven = ConstructorParameters<typeof Headers>[0];

/** What every call takes. */
export interface CallOptions {
  /** How long the call may take, all attempts together; the client's own where it is left out. */
  readonly timeoutMs?: number | undefined;
  /** Gives the call up, as {@link Cancelled}. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * A connect transport that retries.
 *
 * Unary calls: a request without a `request_id` gets one, UNAVAILABLE is tried again with the same bytes until the call's time is up,
 * and what fails is a {@link LockstitchError}. Streams are one attempt each.
 */
export class RetryingTransport implements Transport {
  private readonly connection: Connection;
  private readonly budget = new retries.RetryBudget();
  private readonly closing = new AbortController();

  constructor(
    endpoint: Endpoint,
    private readonly token: TokenSource,
    readonly timeoutMs: number,
  ) {
    this.connection = new Connection(endpoint);
    // Each call that waits for its next attempt listens.
    setMaxListeners(0, this.closing.signal);
  }

  async unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    signal: AbortSignal | undefined,
    timeoutMs: number | undefined,
    header: HeadersGiven,
    input: MessageInitShape<I>,
    contextValues?: ContextValues,
  ): Promise<UnaryResponse<I, O>> {
    // A copy, since what was filled in for this call must not go with the caller's next one.
    const message = { ...create(method.input, input) };
    const requestId = withRequestId(message);
    refuseLoneSurrogates(message);
    const deadline = performance.now() + (timeoutMs ?? this.timeoutMs);
    const waits = retries.Waits.ofCall();
    for (;;) {
      const headers = await this.headers(header);
      // Whole milliseconds, as the header has them; at least one, since connect takes 0 for "no deadline".
      const leftMs = Math.max(Math.ceil(deadline - performance.now()), 1);
      try {
        const response = await this.connection.transport.unary(
          method,
          signal,
          leftMs,
          headers,
          message as MessageInitShape<I>,
          contextValues,
        );
        this.budget.succeeded();
        return response;
      } catch (failure) {
        const { error, pushbackMs } = this.failed(failure, requestId, signal);
        if (error.reason === "") {
          refuseUnwritable(method.input, message);
        }
        const wait = this.waitBeforeRetry(error, waits.nextMs(), pushbackMs);
        if (wait === undefined || performance.now() + wait >= deadline) {
          throw error;
        }
        await this.pause(wait, signal, requestId);
      }
    }
  }

  async stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodStreaming<I, O>,
    signal: AbortSignal | undefined,
    timeoutMs: number | undefined,
    header: HeadersGiven,
    input: AsyncIterable<MessageInitShape<I>>,
    contextValues?: ContextValues,
  ): Promise<StreamResponse<I, O>> {
    const headers = await this.headers(header);
    const failed = (failure: unknown): LockstitchError => this.failed(failure, "", signal).error;
    let response: StreamResponse<I, O>;
    try {
      response = await this.connection.transport.stream(method, signal, timeoutMs ?? 0, headers, input, contextValues);
    } catch (failure) {
      throw failed(failure);
    }
    return { ...response, message: failingAs(response.message, failed) };
  }

  /** The connection of the moment, to be named to {@link renew} by whoever finds it dead. */
  get current(): Transport {
    return this.connection.transport;
  }

  /** Replaces a connection whose network went dead without a word. */
  renew(suspect: Transport): void {
    this.connection.renew(suspect);
  }

  /** Waits, unless the caller gives up or the client is closed meanwhile. */
  async pause(ms: number, signal: AbortSignal | undefined, requestId = ""): Promise<void> {
    try {
      const { signal: closing } = this.closing;
      await sleep(ms, undefined, { signal: signal === undefined ? closing : AbortSignal.any([signal, closing]) });
    } catch (failure) {
      throw this.failed(failure, requestId, signal).error;
    }
  }

  /** Whether calls are refused. */
  get isClosed(): boolean {
    return this.closing.signal.aborted;
  }

  /** Ends what is in flight. Later calls are refused. */
  close(): void {
    this.closing.abort();
    this.connection.close();
  }

  private async headers(given: HeadersGiven): Promise<Headers> {
    this.refuseClosed();
    const headers = new Headers(given);
    const token = typeof this.token === "function" ? await this.token() : this.token;
    if (token !== undefined) {
      if (!/^[\x20-\x7e]*$/.test(token)) {
        throw new InvalidField("The token holds characters that no header can carry.");
      }
      headers.set("authorization", `Bearer ${token}`);
    }
    return headers;
  }

  private failed(failure: unknown, requestId: string, signal: AbortSignal | undefined): ReturnType<typeof failedAttempt> {
    if (this.isClosed) {
      return { error: new Cancelled("The client was closed during the call.", { requestId, cause: failure }), pushbackMs: undefined };
    }
    return failedAttempt(failure, requestId, signal?.aborted === true);
  }

  private waitBeforeRetry(error: LockstitchError, backoffMs: number, pushbackMs: number | undefined): number | undefined {
    if (!retries.isRetryable(error)) {
      this.budget.succeeded();
      return undefined;
    }
    return this.budget.failed() ? retries.waitMs(backoffMs, pushbackMs, error.retryAfterMs) : undefined;
  }

  private refuseClosed(): void {
    if (this.isClosed) {
      throw new Cancelled("The client is closed.");
    }
  }
}

/** An id that nobody used before: 128 random bits. */
export function newRequestId(): string {
  return randomBytes(16).toString("hex");
}

/** Fills in the request_id of a change that has none, and gives it; `""` for a request that has no such field. */
function withRequestId(message: object): string {
  if (!("requestId" in message)) {
    return "";
  }
  message.requestId = message.requestId === "" ? newRequestId() : message.requestId;
  return message.requestId as string;
}

/** Throws where it was the request itself that could not be written, which connect tells like trouble of the network. */
function refuseUnwritable(input: DescMessage, message: Parameters<typeof toBinary>[1]): void {
  try {
    toBinary(input, message);
  } catch (failure) {
    throw new InvalidArgument(`The request can't be written: ${String(failure)}`, { reason: "INVALID_FIELD", cause: failure });
  }
}

async function* failingAs<T>(items: AsyncIterable<T>, failed: (failure: unknown) => LockstitchError): AsyncGenerator<T> {
  try {
    yield* items;
  } catch (failure) {
    throw failed(failure);
  }
}
