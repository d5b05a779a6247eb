package dev.lockstitch;

import com.google.protobuf.Descriptors.FieldDescriptor;
import dev.lockstitch.v1.AppendRequest;
import dev.lockstitch.v1.CheckpointServiceGrpc;
import dev.lockstitch.v1.CommitReceipt;
import dev.lockstitch.v1.CompleteToolCallRequest;
import dev.lockstitch.v1.CompleteToolCallResponse;
import dev.lockstitch.v1.DeleteCheckpointsRequest;
import dev.lockstitch.v1.DeleteCheckpointsResponse;
import dev.lockstitch.v1.MemoryChange;
import dev.lockstitch.v1.Message;
import dev.lockstitch.v1.PutCheckpointRequest;
import dev.lockstitch.v1.PutCheckpointWritesRequest;
import dev.lockstitch.v1.RemoveMessagesRequest;
import dev.lockstitch.v1.RemoveMessagesResponse;
import dev.lockstitch.v1.Session;
import dev.lockstitch.v1.SessionServiceGrpc;
import dev.lockstitch.v1.UpdateMemoryRequest;
import dev.lockstitch.v1.UpdateMemoryResponse;
import dev.lockstitch.v1.UpdateMessageRequest;
import dev.lockstitch.v1.UpdateMessageResponse;
import dev.lockstitch.v1.UpdateSessionRequest;
import dev.lockstitch.v1.UpdateSessionResponse;
import dev.lockstitch.v1.UpdateToolCallRequest;
import dev.lockstitch.v1.UpdateToolCallResponse;
import io.grpc.MethodDescriptor;
import java.util.List;

/**
 * What can be stored in a session, by whoever holds its handle or a run of it.
 *
 * <p>Requests are the wire's, without the session's id. Every change has a {@code request_id}
 * (filled in where it is left out, and repeated by every retry, so that nothing is ever made twice)
 * and may have an {@code expected_version}, which refuses with {@link
 * dev.lockstitch.errors.VersionConflictException} unless the session is at this version: there is
 * no hidden guard. Nothing is stored by a change that failed, except that {@link
 * dev.lockstitch.errors.UnavailableException} and {@link
 * dev.lockstitch.errors.DeadlineExceededException} leave it open: send it again with the error's
 * {@code requestId()}.
 */
public abstract class SessionChanges extends SessionReads {

  SessionChanges(Transport transport, String sessionId, Seen seen) {
    super(transport, sessionId, seen);
  }

  /** Stores messages in one commit: all of them or none. {@link Messages} makes them. */
  public CommitReceipt append(Message... messages) {
    return append(AppendRequest.newBuilder().addAllMessages(List.of(messages)).build());
  }

  /** Stores what a turn brought, in one commit: all of it or nothing. */
  public CommitReceipt append(AppendRequest request) {
    return change(SessionServiceGrpc.getAppendMethod(), request).getReceipt();
  }

  /**
   * Changes working memory by a change that needs no guard, and gives it as it is then. {@link
   * Memory} makes changes.
   */
  public UpdateMemoryResponse updateMemory(MemoryChange change) {
    return updateMemory(UpdateMemoryRequest.newBuilder().setChange(change).build());
  }

  /** Changes working memory and gives it as it is then. */
  public UpdateMemoryResponse updateMemory(UpdateMemoryRequest request) {
    UpdateMemoryResponse response = change(SessionServiceGrpc.getUpdateMemoryMethod(), request);
    if (request.getRunId().isEmpty()) {
      seen.memoryUpTo(response.getMemory().getVersion());
    }
    return response;
  }

  /**
   * Changes the session's title, labels, metadata or life: those that {@code update_mask} names.
   */
  public UpdateSessionResponse update(UpdateSessionRequest request) {
    UpdateSessionRequest.Builder named = request.toBuilder();
    named.getSessionBuilder().setSessionId(sessionId);
    return change(SessionServiceGrpc.getUpdateSessionMethod(), named.build());
  }

  /**
   * Says that a tool call begins, waits for approval, is approved or refused, or touches resources.
   * Say RUNNING before you act.
   */
  public UpdateToolCallResponse updateToolCall(UpdateToolCallRequest request) {
    return change(SessionServiceGrpc.getUpdateToolCallMethod(), request);
  }

  /**
   * Ends a tool call. Where a message made it and the outcome is known, its tool message is written
   * with it.
   */
  public CompleteToolCallResponse completeToolCall(CompleteToolCallRequest request) {
    return change(SessionServiceGrpc.getCompleteToolCallMethod(), request);
  }

  /** Takes messages back from the end, and puts others in their place if any are given. */
  public RemoveMessagesResponse removeMessages(RemoveMessagesRequest request) {
    return change(SessionServiceGrpc.getRemoveMessagesMethod(), request);
  }

  /** Changes a message in its place, such as to redact it. */
  public UpdateMessageResponse updateMessage(UpdateMessageRequest request) {
    return change(SessionServiceGrpc.getUpdateMessageMethod(), request);
  }

  /** Puts a checkpoint. Whoever goes on finds the one of the greatest id as the latest. */
  public CommitReceipt putCheckpoint(PutCheckpointRequest request) {
    return change(CheckpointServiceGrpc.getPutCheckpointMethod(), request).getReceipt();
  }

  /**
   * Puts pending writes of a checkpoint, which may come before it. Makes no commit; may be repeated
   * at will.
   */
  public void putCheckpointWrites(PutCheckpointWritesRequest request) {
    call(CheckpointServiceGrpc.getPutCheckpointWritesMethod(), request);
  }

  /** Deletes checkpoints with their writes. */
  public DeleteCheckpointsResponse deleteCheckpoints(DeleteCheckpointsRequest request) {
    return change(CheckpointServiceGrpc.getDeleteCheckpointsMethod(), request);
  }

  /** Calls a method that changes the session, and notes how far that is seen. */
  final <I extends com.google.protobuf.Message, O extends com.google.protobuf.Message> O change(
      MethodDescriptor<I, O> method, I request) {
    O response = call(method, request);
    seen.made(
        (CommitReceipt)
            response.getField(response.getDescriptorForType().findFieldByName("receipt")),
        (Long) given(request, "expected_version"),
        given(request, "expected_memory_version") != null);
    Session told = (Session) given(response, "session");
    if (told != null) {
      seen.note(told);
    }
    return response;
  }

  /** A field's value; null where the message has no such field, or it is absent. */
  private static Object given(com.google.protobuf.Message message, String name) {
    FieldDescriptor field = message.getDescriptorForType().findFieldByName(name);
    return field == null || !message.hasField(field) ? null : message.getField(field);
  }
}
