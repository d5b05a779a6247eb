/** What can be stored in a session, by whoever holds its handle or a run of it. */

import type { DescMessage, DescMethodUnary, MessageShape } from "@bufbuild/protobuf";

import {
  CheckpointService,
  type DeleteCheckpointsRequestSchema,
  type DeleteCheckpointsResponse,
  type PutCheckpointRequestSchema,
  type PutCheckpointWritesRequestSchema,
} from "./gen/lockstitch/v1/checkpoint_service_pb.js";
import type { CommitReceipt } from "./gen/lockstitch/v1/commit_pb.js";
import type { Session as SessionInfo } from "./gen/lockstitch/v1/session_pb.js";
import {
  type AppendRequestSchema,
  type CompleteToolCallRequestSchema,
  type CompleteToolCallResponse,
  type RemoveMessagesRequestSchema,
  type RemoveMessagesResponse,
  SessionService,
  type UpdateMemoryRequestSchema,
  type UpdateMemoryResponse,
  type UpdateMessageRequestSchema,
  type UpdateMessageResponse,
  type UpdateSessionRequestSchema,
  type UpdateSessionResponse,
  type UpdateToolCallRequestSchema,
  type UpdateToolCallResponse,
} from "./gen/lockstitch/v1/session_service_pb.js";
import type { Asked } from "./session_calls.js";
import { SessionReads } from "./session_reads.js";
import type { CallOptions } from "./transport.js";

const { method: sessions } = SessionService;
const { method: checkpoints } = CheckpointService;

/** What every change answers. */
type Changed = { readonly receipt?: CommitReceipt | undefined; readonly session?: SessionInfo | undefined };

/**
 * The changing half of {@link Session}, which a {@link Run} has too.
 *
 * Requests are the wire's. Every change takes `requestId` (filled in where it is left out, and repeated by every retry, so that nothing
 * is ever made twice) and `expectedVersion`, which refuses with {@link VersionConflict} unless the session is at this version: there is
 * no hidden guard. Nothing is stored by a change that failed, except that {@link Unavailable} and {@link DeadlineExceeded} leave it open:
 * send it again with `error.requestId`.
 */
export class SessionChanges extends SessionReads {
  /**
   * Stores what a turn brought, in one commit: all of it or nothing.
   *
   *     const receipt = await session.append({ messages: [user("hello")], expectedVersion: session.version });
   */
  async append(request: Asked<typeof AppendRequestSchema>, options?: CallOptions): Promise<CommitReceipt> {
    return (await this.change(sessions.append, request, options)).receipt!;
  }

  /** Changes working memory and gives it as it is then. The makers of changes are {@link mergePatch} and its like. */
  async updateMemory(request: Asked<typeof UpdateMemoryRequestSchema>, options?: CallOptions): Promise<UpdateMemoryResponse> {
    const response = await this.change(sessions.updateMemory, request, options);
    if ((request.runId ?? "") === "") {
      this.seen.memoryUpTo(response.memory!.version);
    }
    return response;
  }

  /**
   * Changes the session's title, labels, metadata or life: those that `updateMask` names.
   *
   *     await session.update({ session: { title: "Trip to Oslo" }, updateMask: { paths: ["title"] } });
   */
  async update(request: Asked<typeof UpdateSessionRequestSchema>, options?: CallOptions): Promise<UpdateSessionResponse> {
    const session = { ...request.session, sessionId: this.sessionId } as NonNullable<typeof request.session>;
    return await this.change(sessions.updateSession, { ...request, session }, options);
  }

  /** Says that a tool call begins, waits for approval, is approved or refused, or touches resources. Say RUNNING before you act. */
  async updateToolCall(request: Asked<typeof UpdateToolCallRequestSchema>, options?: CallOptions): Promise<UpdateToolCallResponse> {
    return await this.change(sessions.updateToolCall, request, options);
  }

  /**
   * Ends a tool call. Where a message made it and the outcome is known, its tool message is written with it.
   *
   *     await session.completeToolCall({ target: { case: "callId", value: "c1" }, resultJson: toJson({ degrees: 4 }) });
   */
  async completeToolCall(request: Asked<typeof CompleteToolCallRequestSchema>, options?: CallOptions): Promise<CompleteToolCallResponse> {
    return await this.change(sessions.completeToolCall, request, options);
  }

  /** Takes messages back from the end, and puts others in their place if any are given. */
  async removeMessages(request: Asked<typeof RemoveMessagesRequestSchema>, options?: CallOptions): Promise<RemoveMessagesResponse> {
    return await this.change(sessions.removeMessages, request, options);
  }

  /** Changes a message in its place, such as to redact it. */
  async updateMessage(request: Asked<typeof UpdateMessageRequestSchema>, options?: CallOptions): Promise<UpdateMessageResponse> {
    return await this.change(sessions.updateMessage, request, options);
  }

  /** Puts a checkpoint. Whoever goes on finds the one of the greatest id as the latest. */
  async putCheckpoint(request: Asked<typeof PutCheckpointRequestSchema>, options?: CallOptions): Promise<CommitReceipt> {
    return (await this.change(checkpoints.putCheckpoint, request, options)).receipt!;
  }

  /** Puts pending writes of a checkpoint, which may come before it. Makes no commit; may be repeated at will. */
  async putCheckpointWrites(request: Asked<typeof PutCheckpointWritesRequestSchema>, options?: CallOptions): Promise<void> {
    await this.call(checkpoints.putCheckpointWrites, request, options);
  }

  /** Deletes checkpoints with their writes. */
  async deleteCheckpoints(
    request: Asked<typeof DeleteCheckpointsRequestSchema>,
    options?: CallOptions,
  ): Promise<DeleteCheckpointsResponse> {
    return await this.change(checkpoints.deleteCheckpoints, request, options);
  }

  /** Calls a method that changes the session, and notes how far that is seen. */
  protected async change<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: Asked<I>,
    options: CallOptions | undefined,
  ): Promise<MessageShape<O>> {
    const response = await this.call(method, request, options);
    const { receipt, session } = response as Changed;
    this.seen.made(receipt!, request as { expectedVersion?: bigint; expectedMemoryVersion?: bigint });
    this.seen.note(session);
    return response;
  }
}
