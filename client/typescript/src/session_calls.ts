/** What every handle of a session has: its way to the server, and how far it has seen. */

import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";

import type { CommitReceipt } from "./gen/lockstitch/v1/commit_pb.js";
import type { Session as SessionInfo } from "./gen/lockstitch/v1/session_pb.js";
import type { CallOptions, RetryingTransport } from "./transport.js";

/** A request as a handle takes it: the wire's, without what the handle fills in. */
export type Asked<D extends DescMessage> = Omit<MessageInitShape<D>, "sessionId" | "fence" | "$typeName" | "$unknown">;

/** A request for a list, which a handle pages through by itself. */
export type AskedList<D extends DescMessage> = Omit<Asked<D>, "pageToken">;

/** How far somebody has seen a session: a handle, and the runs that it started. */
export class Seen {
  version = 0n;
  memoryVersion = 0n;
  info: SessionInfo | undefined;
  receipt: CommitReceipt | undefined;

  /** Notes a version up to which all was seen. */
  upTo(version: bigint): void {
    this.version = later(this.version, version);
  }

  /** Notes a version of the working memory that was read or made. */
  memoryUpTo(version: bigint): void {
    this.memoryVersion = later(this.memoryVersion, version);
  }

  /** Notes a session as it was told. */
  note(session: SessionInfo | undefined): void {
    if (session !== undefined && (this.info === undefined || session.version >= this.info.version)) {
      this.info = session;
    }
  }

  /** Notes a session as read: whoever reads it has seen it up to its version. */
  read(session: SessionInfo | undefined): void {
    this.note(session);
    this.upTo(session?.version ?? 0n);
  }

  /** Notes a change made here. It counts as seen only where nobody else's commit can lie before it unseen. */
  made(receipt: CommitReceipt, asked: { expectedVersion?: bigint | undefined; expectedMemoryVersion?: bigint | undefined }): void {
    this.receipt = receipt;
    const follows = receipt.version <= (asked.expectedVersion ?? this.version) + 1n;
    if (follows) {
      this.upTo(receipt.version);
    }
    if (receipt.memoryVersion === receipt.version && (follows || asked.expectedMemoryVersion !== undefined)) {
      this.memoryUpTo(receipt.memoryVersion);
    }
  }
}

/** The ground of {@link Session} and {@link Run}. */
export class SessionCalls {
  /** @internal */
  constructor(
    protected readonly transport: RetryingTransport,
    /** Which session. */
    readonly sessionId: string,
    protected readonly seen: Seen,
  ) {}

  /**
   * The version up to which this handle has seen the session; 0n before anything was seen.
   *
   * Every commit up to it was either read or made here, or under a run that this handle started. `expectedVersion: session.version`
   * says "only if nobody wrote since I looked".
   */
  get version(): bigint {
    return this.seen.version;
  }

  /** The version of the working memory that was last read or made through this handle; 0n before. */
  get memoryVersion(): bigint {
    return this.seen.memoryVersion;
  }

  /** The session as last read or created through this handle, undefined before: status, title, labels, times. */
  get info(): SessionInfo | undefined {
    return this.seen.info;
  }

  /** The receipt of the last change made through this handle, undefined before. */
  get receipt(): CommitReceipt | undefined {
    return this.seen.receipt;
  }

  /**
   * Calls any method of the wire on this session: its session_id is filled in, its request_id too, and under a run the fence.
   *
   * For what this handle has no name for. It does not move {@link version} on.
   */
  async call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: Asked<I>,
    options: CallOptions = {},
  ): Promise<MessageShape<O>> {
    const filled = { ...request, sessionId: this.sessionId } as unknown as MessageInitShape<I>;
    const { message } = await this.transport.unary(method, options.signal, options.timeoutMs, undefined, filled);
    return message;
  }
}

/** All items of a list, a page at a time as they are asked for. */
export async function* paged<P extends { readonly nextPageToken: string }, T>(
  page: (pageToken: string) => Promise<P>,
  items: (page: P) => readonly T[],
): AsyncGenerator<T, void> {
  let token = "";
  do {
    const got = await page(token);
    yield* items(got);
    token = got.nextPageToken;
  } while (token !== "");
}

function later(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}
