package dev.lockstitch;

import com.google.protobuf.Message;
import dev.lockstitch.v1.CommitReceipt;
import dev.lockstitch.v1.Session;
import io.grpc.MethodDescriptor;
import java.util.Optional;

/** What every handle of a session has: its way to the server, and how far it has seen. */
public abstract class SessionCalls {

  final Transport transport;
  final String sessionId;
  final Seen seen;

  SessionCalls(Transport transport, String sessionId, Seen seen) {
    this.transport = transport;
    this.sessionId = sessionId;
    this.seen = seen;
  }

  /** Which session. */
  public final String sessionId() {
    return sessionId;
  }

  /**
   * The version up to which this handle has seen the session; 0 before anything was seen.
   *
   * <p>Every commit up to it was either read or made here, or under a run that this handle started.
   * {@code setExpectedVersion(session.version())} says "only if nobody wrote since I looked".
   */
  public final long version() {
    return seen.version();
  }

  /** The version of the working memory that was last read or made through this handle; 0 before. */
  public final long memoryVersion() {
    return seen.memoryVersion();
  }

  /**
   * The session as last read or created through this handle, empty before: status, title, labels,
   * times.
   */
  public final Optional<Session> info() {
    return Optional.ofNullable(seen.info());
  }

  /** The receipt of the last change made through this handle, empty before. */
  public final Optional<CommitReceipt> receipt() {
    return Optional.ofNullable(seen.receipt());
  }

  /**
   * Calls any unary method of the wire on this session: its session_id is filled in, its request_id
   * too, and under a run the fence.
   *
   * <p>For what this handle has no name for. It does not move {@link #version} on.
   *
   * <pre>{@code
   * session.call(SessionServiceGrpc.getGetMemoryMethod(), GetMemoryRequest.newBuilder().setAtVersion(3).build());
   * }</pre>
   */
  public <I extends Message, O extends Message> O call(MethodDescriptor<I, O> method, I request) {
    return transport.call(method, Wire.with(request, "session_id", sessionId));
  }
}
