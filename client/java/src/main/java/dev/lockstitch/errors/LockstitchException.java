package dev.lockstitch.errors;

import io.grpc.Status.Code;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A call failed. Every failure of a call is one of these: one class for each reason that a server
 * gives, under one base for each gRPC code.
 *
 * <p>A class is chosen by the machine-readable reason, never by text. A reason that this client
 * does not know yet gives the base of its code, so that {@code catch (NotFoundException e)} goes on
 * catching what later servers add.
 *
 * <pre>{@code
 * try {
 *   session.append(guarded);
 * } catch (VersionConflictException conflict) {
 *   System.out.println(conflict.expectedVersion() + ", " + conflict.currentVersion());
 * }
 * }</pre>
 */
public abstract class LockstitchException extends RuntimeException {

  private static final long serialVersionUID = 1;

  private final Code code;
  private final String reason;
  private final TreeMap<String, String> metadata;
  private final FieldViolation[] fieldViolations;
  private final Duration retryAfter;
  private final String requestId;

  LockstitchException(Code code, String message, Failure failure) {
    super(message, failure.cause());
    this.code = code;
    this.reason = failure.reason();
    this.metadata = new TreeMap<>(failure.metadata());
    this.fieldViolations = failure.fieldViolations().toArray(FieldViolation[]::new);
    this.retryAfter = failure.retryAfter();
    this.requestId = failure.requestId();
  }

  /** The gRPC code, fixed for each class. */
  public final Code code() {
    return code;
  }

  /**
   * The reason as the server names it, such as {@code "VERSION_CONFLICT"}; empty where no server of
   * ours answered.
   */
  public final String reason() {
    return reason;
  }

  /** What the reason comes with, all text, such as {@code limit_bytes=3145728}. */
  public final Map<String, String> metadata() {
    return Map.copyOf(metadata);
  }

  /** The fields that were refused, for {@link InvalidArgumentException}; else empty. */
  public final List<FieldViolation> fieldViolations() {
    return List.of(fieldViolations);
  }

  /** How long the server asks to be left alone; empty where it did not say. */
  public final Optional<Duration> retryAfter() {
    return Optional.ofNullable(retryAfter);
  }

  /**
   * The id of the change that failed; empty for reads. Sending it again can never make the change
   * twice.
   */
  public final String requestId() {
    return requestId;
  }

  /** A number of the metadata; 0 where a server left it out. */
  final long number(String key) {
    return Long.parseLong(metadata.getOrDefault(key, "0"));
  }
}
