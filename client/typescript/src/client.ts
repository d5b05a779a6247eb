/** A client of a lockstitch server. */

import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { createClient, type Client as Stub } from "@connectrpc/connect";

import { endpointOf, type Tls } from "./endpoint.js";
import { AdminService, type GetServerInfoResponse, type PurgeSessionRequestSchema } from "./gen/lockstitch/v1/admin_service_pb.js";
import { CheckpointService } from "./gen/lockstitch/v1/checkpoint_service_pb.js";
import { RunService } from "./gen/lockstitch/v1/run_service_pb.js";
import type { Session as SessionInfo } from "./gen/lockstitch/v1/session_pb.js";
import { type CreateSessionRequestSchema, type ListSessionsRequestSchema, SessionService } from "./gen/lockstitch/v1/session_service_pb.js";
import { Session } from "./session.js";
import { type AskedList, paged, Seen } from "./session_calls.js";
import { type CallOptions, RetryingTransport, type TokenSource } from "./transport.js";
import { refuseOtherVersions } from "./versions.js";

const TIMEOUT_MS = 10_000;
const ERASURE_TIMEOUT_MS = 60_000;

/** How to speak to a server. */
export interface ClientOptions {
  /**
   * Who calls: a token, or a function (plain or async) that gives a fresh one. It is asked before every attempt, so let it keep what it
   * gives for as long as it lives. Leave it out where a client certificate says it.
   */
  readonly token?: TokenSource;
  /** Left out: plain text where the target can't leave this machine, else TLS; see {@link Tls}. */
  readonly tls?: Tls;
  /** How long a call may take, all attempts together; a call can say its own. Defaults to 10 seconds. */
  readonly timeoutMs?: number;
}

/**
 * A client of the server at a target such as `127.0.0.1:50051`, `dns:///store.example.org:443` or `unix:/run/lockstitch.sock`. It connects
 * with the first call.
 *
 *     const client = connect("127.0.0.1:50051", { token });
 *     const session = await client.create({ userId: "u1" });
 *     await session.append({ messages: [user("hello")] });
 *     client.close();
 */
export function connect(target: string, options: ClientOptions = {}): Client {
  return new Client(new RetryingTransport(endpointOf(target, options.tls), options.token, options.timeoutMs ?? TIMEOUT_MS));
}

/**
 * Speaks to a lockstitch server; made by {@link connect}.
 *
 * UNAVAILABLE is retried with the same request_id and growing waits until the call's time is up; the server's word on when to come again
 * is kept. Everything else is thrown at once, as a {@link LockstitchError}.
 */
export class Client {
  /** The wire's own methods, with this client's token, request ids, retries and errors. */
  readonly stubs: {
    readonly sessions: Stub<typeof SessionService>;
    readonly runs: Stub<typeof RunService>;
    readonly checkpoints: Stub<typeof CheckpointService>;
    readonly admin: Stub<typeof AdminService>;
  };

  /** @internal */
  constructor(private readonly transport: RetryingTransport) {
    this.stubs = {
      sessions: createClient(SessionService, transport),
      runs: createClient(RunService, transport),
      checkpoints: createClient(CheckpointService, transport),
      admin: createClient(AdminService, transport),
    };
  }

  /** Creates a session, with its first messages and memory in the same commit. */
  async create(request: MessageInitShape<typeof CreateSessionRequestSchema> = {}, options?: CallOptions): Promise<Session> {
    const { session, receipt } = await this.stubs.sessions.createSession(request, settled(options));
    const seen = new Seen();
    seen.made(receipt!, {});
    seen.note(session);
    return new Session(this.transport, session!.sessionId, seen);
  }

  /** The handle of a session that is there, with its `info` read. `showDeleted` finds a deleted one too. */
  async get(sessionId: string, options: CallOptions & { readonly showDeleted?: boolean } = {}): Promise<Session> {
    const session = this.session(sessionId);
    await session.get({ showDeleted: options.showDeleted ?? false }, options);
    return session;
  }

  /** The handle of a session without a call: whether it is there shows with the first one. */
  session(sessionId: string): Session {
    return new Session(this.transport, sessionId, new Seen());
  }

  /** The sessions, the most recently used first, a page at a time as you go on. A user sees its own only. */
  list(request: AskedList<typeof ListSessionsRequestSchema> = {}, options?: CallOptions): AsyncGenerator<SessionInfo, void> {
    return paged(
      (pageToken) => this.stubs.sessions.listSessions({ ...request, pageToken }, settled(options)),
      (page) => page.sessions,
    );
  }

  /** What the server is and which limits it holds. For engines and admins. */
  async serverInfo(options?: CallOptions): Promise<GetServerInfoResponse> {
    return await this.stubs.admin.getServerInfo({}, settled(options));
  }

  /**
   * Asks the server for its version, and fails with {@link ServerTooOld} or {@link ServerTooNew} where this client does not speak with it.
   * For engines and admins.
   */
  async checkServer(options?: CallOptions): Promise<GetServerInfoResponse> {
    const info = await this.serverInfo(options);
    refuseOtherVersions(info.version);
    return info;
  }

  /** Deletes all content of a session for good, whatever its state, and gives when. For admins. */
  async purge(request: MessageInitShape<typeof PurgeSessionRequestSchema>, options: CallOptions = {}): Promise<Date> {
    const { purgeTime } = await this.stubs.admin.purgeSession(request, settled({ timeoutMs: ERASURE_TIMEOUT_MS, ...options }));
    return timestampDate(purgeTime as Timestamp);
  }

  /** Purges all sessions of a user, however many calls that takes, and gives how many they were. For admins. */
  async eraseUser(userId: string, options: CallOptions = {}): Promise<bigint> {
    let purged = 0n;
    for (;;) {
      const answer = await this.stubs.admin.eraseUser({ userId }, settled({ timeoutMs: ERASURE_TIMEOUT_MS, ...options }));
      purged += answer.sessionsPurged;
      if (answer.sessionsRemaining === 0n) {
        return purged;
      }
    }
  }

  /** Closes the connection. Calls in flight are given up, later ones refused. */
  close(): void {
    this.transport.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** Options as connect takes them: what is undefined is left out. */
function settled(options: CallOptions = {}): { timeoutMs?: number; signal?: AbortSignal } {
  const { timeoutMs, signal } = options;
  return { ...(timeoutMs !== undefined && { timeoutMs }), ...(signal && { signal }) };
}
