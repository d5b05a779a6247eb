package dev.lockstitch.errors;

import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * What is known of a failure beside its sentence.
 *
 * @param reason the reason as the server names it; empty where no server of ours answered
 * @param metadata what the reason comes with
 * @param fieldViolations the fields that were refused
 * @param retryAfter how long the server asks to be left alone; null where it did not say
 * @param requestId the id of the change that failed; empty for reads
 * @param cause what it came from; null for nothing
 */
public record Failure(
    String reason,
    Map<String, String> metadata,
    List<FieldViolation> fieldViolations,
    Duration retryAfter,
    String requestId,
    Throwable cause) {

  /** Of which nothing more is known. */
  public static final Failure BARE = new Failure("", Map.of(), List.of(), null, "", null);

  /** Copies what it is given. */
  public Failure {
    metadata = Map.copyOf(metadata);
    fieldViolations = List.copyOf(fieldViolations);
  }

  /** A failure of this client's own, of which only the cause is known. */
  public static Failure causedBy(Throwable cause, String requestId) {
    return new Failure("", Map.of(), List.of(), null, requestId, cause);
  }

  /** A refused field, shaped like the server's own. */
  public static Failure ofField(String field, String description) {
    List<FieldViolation> refused = List.of(new FieldViolation(field, description));
    return new Failure("INVALID_FIELD", Map.of(), refused, null, "", null);
  }
}
