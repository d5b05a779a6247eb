package dev.lockstitch;

import dev.lockstitch.v1.Checkpoint;
import dev.lockstitch.v1.CheckpointServiceGrpc;
import dev.lockstitch.v1.Commit;
import dev.lockstitch.v1.GetCheckpointRequest;
import dev.lockstitch.v1.GetCheckpointResponse;
import dev.lockstitch.v1.GetContextRequest;
import dev.lockstitch.v1.GetContextResponse;
import dev.lockstitch.v1.GetMemoryRequest;
import dev.lockstitch.v1.GetRunRequest;
import dev.lockstitch.v1.GetSessionRequest;
import dev.lockstitch.v1.GetSessionResponse;
import dev.lockstitch.v1.ListCheckpointsRequest;
import dev.lockstitch.v1.ListCheckpointsResponse;
import dev.lockstitch.v1.ListCommitsRequest;
import dev.lockstitch.v1.ListCommitsResponse;
import dev.lockstitch.v1.ListMemoryVersionsRequest;
import dev.lockstitch.v1.ListMemoryVersionsResponse;
import dev.lockstitch.v1.ListMessagesRequest;
import dev.lockstitch.v1.ListMessagesResponse;
import dev.lockstitch.v1.ListRunsRequest;
import dev.lockstitch.v1.ListRunsResponse;
import dev.lockstitch.v1.ListToolCallsRequest;
import dev.lockstitch.v1.ListToolCallsResponse;
import dev.lockstitch.v1.Message;
import dev.lockstitch.v1.Run;
import dev.lockstitch.v1.RunServiceGrpc;
import dev.lockstitch.v1.SessionServiceGrpc;
import dev.lockstitch.v1.ToolCall;
import dev.lockstitch.v1.WorkingMemory;

/**
 * What can be read of a session. Requests are the wire's, without the session's id; every field is
 * described there. Lists fetch their pages as you go on.
 */
public abstract class SessionReads extends SessionCalls {

  SessionReads(Transport transport, String sessionId, Seen seen) {
    super(transport, sessionId, seen);
  }

  /** The session now. Moves {@link #version} on. */
  public GetSessionResponse get() {
    return get(GetSessionRequest.getDefaultInstance());
  }

  /**
   * The session now, and with it what is asked for, from one snapshot. Moves {@link #version} on.
   */
  public GetSessionResponse get(GetSessionRequest request) {
    GetSessionResponse response = call(SessionServiceGrpc.getGetSessionMethod(), request);
    seen.read(response.getSession());
    seen.memoryUpTo(response.getMemory().getVersion());
    return response;
  }

  /**
   * What an engine needs to go on, from one snapshot. Moves {@link #version} and {@link
   * #memoryVersion} on.
   */
  public GetContextResponse context() {
    return context(GetContextRequest.getDefaultInstance());
  }

  /** The same, as much of it as is asked for. */
  public GetContextResponse context(GetContextRequest request) {
    GetContextResponse response = call(SessionServiceGrpc.getGetContextMethod(), request);
    seen.read(response.getSession());
    seen.memoryUpTo(response.getMemory().getVersion());
    return response;
  }

  /** The working memory now. Moves {@link #memoryVersion} on. */
  public WorkingMemory memory() {
    return memory(GetMemoryRequest.getDefaultInstance());
  }

  /** The working memory now or as it was, or that of a run. */
  public WorkingMemory memory(GetMemoryRequest request) {
    WorkingMemory memory = call(SessionServiceGrpc.getGetMemoryMethod(), request).getMemory();
    if (request.getRunId().isEmpty()) {
      seen.memoryUpTo(memory.getVersion());
    }
    return memory;
  }

  /** The working memory as it was after each commit that changed it, newest first. */
  public Iterable<WorkingMemory> memoryVersions(ListMemoryVersionsRequest request) {
    return new Pages<>(
        token ->
            call(
                SessionServiceGrpc.getListMemoryVersionsMethod(),
                request.toBuilder().setPageToken(token).build()),
        ListMemoryVersionsResponse::getMemoriesList,
        ListMemoryVersionsResponse::getNextPageToken);
  }

  /** All messages by seq. */
  public Iterable<Message> messages() {
    return messages(ListMessagesRequest.getDefaultInstance());
  }

  /** The messages that are asked for. */
  public Iterable<Message> messages(ListMessagesRequest request) {
    return new Pages<>(
        token ->
            call(
                SessionServiceGrpc.getListMessagesMethod(),
                request.toBuilder().setPageToken(token).build()),
        ListMessagesResponse::getMessagesList,
        ListMessagesResponse::getNextPageToken);
  }

  /**
   * The commits that made the session what it is, oldest first: its audit trail, and what somebody
   * else did.
   */
  public Iterable<Commit> commits(ListCommitsRequest request) {
    return new Pages<>(
        token ->
            call(
                SessionServiceGrpc.getListCommitsMethod(),
                request.toBuilder().setPageToken(token).build()),
        ListCommitsResponse::getCommitsList,
        ListCommitsResponse::getNextPageToken);
  }

  /** The ledger of tool calls, oldest first. */
  public Iterable<ToolCall> toolCalls(ListToolCallsRequest request) {
    return new Pages<>(
        token ->
            call(
                SessionServiceGrpc.getListToolCallsMethod(),
                request.toBuilder().setPageToken(token).build()),
        ListToolCallsResponse::getToolCallsList,
        ListToolCallsResponse::getNextPageToken);
  }

  /** The session's runs, the newest first. */
  public Iterable<Run> runs(ListRunsRequest request) {
    return new Pages<>(
        token ->
            call(
                RunServiceGrpc.getListRunsMethod(),
                request.toBuilder().setPageToken(token).build()),
        ListRunsResponse::getRunsList,
        ListRunsResponse::getNextPageToken);
  }

  /** One run: where it stands, who holds it, until when its lease is live. */
  public Run getRun(String runId) {
    GetRunRequest request = GetRunRequest.newBuilder().setRunId(runId).build();
    return call(RunServiceGrpc.getGetRunMethod(), request).getRun();
  }

  /** A checkpoint, or the latest of a namespace, with its writes. */
  public GetCheckpointResponse checkpoint(GetCheckpointRequest request) {
    return call(CheckpointServiceGrpc.getGetCheckpointMethod(), request);
  }

  /** The session's checkpoints, the greatest id first. */
  public Iterable<Checkpoint> checkpoints(ListCheckpointsRequest request) {
    return new Pages<>(
        token ->
            call(
                CheckpointServiceGrpc.getListCheckpointsMethod(),
                request.toBuilder().setPageToken(token).build()),
        ListCheckpointsResponse::getCheckpointsList,
        ListCheckpointsResponse::getNextPageToken);
  }
}
