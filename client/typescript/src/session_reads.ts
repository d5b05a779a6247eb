/** What can be read of a session. */

import type { Checkpoint } from "./gen/lockstitch/v1/checkpoint_pb.js";
import {
  CheckpointService,
  type GetCheckpointRequestSchema,
  type GetCheckpointResponse,
  type ListCheckpointsRequestSchema,
} from "./gen/lockstitch/v1/checkpoint_service_pb.js";
import type { Commit } from "./gen/lockstitch/v1/commit_pb.js";
import type { Message } from "./gen/lockstitch/v1/message_pb.js";
import type { Run } from "./gen/lockstitch/v1/run_pb.js";
import { type ListRunsRequestSchema, RunService } from "./gen/lockstitch/v1/run_service_pb.js";
import {
  type GetContextRequestSchema,
  type GetContextResponse,
  type GetMemoryRequestSchema,
  type GetSessionRequestSchema,
  type GetSessionResponse,
  type ListCommitsRequestSchema,
  type ListMemoryVersionsRequestSchema,
  type ListMessagesRequestSchema,
  type ListToolCallsRequestSchema,
  SessionService,
} from "./gen/lockstitch/v1/session_service_pb.js";
import type { ToolCall } from "./gen/lockstitch/v1/tool_call_pb.js";
import type { WorkingMemory } from "./gen/lockstitch/v1/working_memory_pb.js";
import { type Asked, type AskedList, paged, SessionCalls } from "./session_calls.js";
import type { CallOptions } from "./transport.js";

const { method: sessions } = SessionService;
const { method: runs } = RunService;
const { method: checkpoints } = CheckpointService;

/** The reading half of {@link Session}. Requests are the wire's; every field is described there. Lists fetch their pages as you go on. */
export class SessionReads extends SessionCalls {
  /** The session now, and with it what is asked for, from one snapshot. Moves {@link version} on. */
  async get(request: Asked<typeof GetSessionRequestSchema> = {}, options?: CallOptions): Promise<GetSessionResponse> {
    const response = await this.call(sessions.getSession, request, options);
    this.seen.read(response.session);
    this.seen.memoryUpTo(response.memory?.version ?? 0n);
    return response;
  }

  /** What an engine needs to go on, from one snapshot. Moves {@link version} and {@link memoryVersion} on. */
  async context(request: Asked<typeof GetContextRequestSchema> = {}, options?: CallOptions): Promise<GetContextResponse> {
    const response = await this.call(sessions.getContext, request, options);
    this.seen.read(response.session);
    this.seen.memoryUpTo(response.memory?.version ?? 0n);
    return response;
  }

  /** The working memory now, or as it was. Moves {@link memoryVersion} on, where it is the session's. */
  async memory(request: Asked<typeof GetMemoryRequestSchema> = {}, options?: CallOptions): Promise<WorkingMemory> {
    const { memory } = await this.call(sessions.getMemory, request, options);
    if ((request.runId ?? "") === "") {
      this.seen.memoryUpTo(memory!.version);
    }
    return memory!;
  }

  /** The working memory as it was after each commit that changed it, newest first. */
  memoryVersions(
    request: AskedList<typeof ListMemoryVersionsRequestSchema> = {},
    options?: CallOptions,
  ): AsyncGenerator<WorkingMemory, void> {
    return paged(
      (pageToken) => this.call(sessions.listMemoryVersions, { ...request, pageToken }, options),
      (page) => page.memories,
    );
  }

  /** The messages by seq. */
  messages(request: AskedList<typeof ListMessagesRequestSchema> = {}, options?: CallOptions): AsyncGenerator<Message, void> {
    return paged(
      (pageToken) => this.call(sessions.listMessages, { ...request, pageToken }, options),
      (page) => page.messages,
    );
  }

  /** The commits that made the session what it is, oldest first: its audit trail, and what somebody else did. */
  commits(request: AskedList<typeof ListCommitsRequestSchema> = {}, options?: CallOptions): AsyncGenerator<Commit, void> {
    return paged(
      (pageToken) => this.call(sessions.listCommits, { ...request, pageToken }, options),
      (page) => page.commits,
    );
  }

  /** The ledger of tool calls, oldest first. */
  toolCalls(request: AskedList<typeof ListToolCallsRequestSchema> = {}, options?: CallOptions): AsyncGenerator<ToolCall, void> {
    return paged(
      (pageToken) => this.call(sessions.listToolCalls, { ...request, pageToken }, options),
      (page) => page.toolCalls,
    );
  }

  /** The session's runs, the newest first. */
  runs(request: AskedList<typeof ListRunsRequestSchema> = {}, options?: CallOptions): AsyncGenerator<Run, void> {
    return paged(
      (pageToken) => this.call(runs.listRuns, { ...request, pageToken }, options),
      (page) => page.runs,
    );
  }

  /** One run: where it stands, who holds it, until when its lease is live. */
  async getRun(runId: string, options?: CallOptions): Promise<Run> {
    return (await this.call(runs.getRun, { runId }, options)).run!;
  }

  /** A checkpoint, or the latest of a namespace, with its writes. */
  async checkpoint(request: Asked<typeof GetCheckpointRequestSchema> = {}, options?: CallOptions): Promise<GetCheckpointResponse> {
    return await this.call(checkpoints.getCheckpoint, request, options);
  }

  /** The session's checkpoints, the greatest id first. */
  checkpoints(request: AskedList<typeof ListCheckpointsRequestSchema> = {}, options?: CallOptions): AsyncGenerator<Checkpoint, void> {
    return paged(
      (pageToken) => this.call(checkpoints.listCheckpoints, { ...request, pageToken }, options),
      (page) => page.checkpoints,
    );
  }
}
