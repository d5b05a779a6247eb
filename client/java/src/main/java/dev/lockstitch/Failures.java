package dev.lockstitch;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import dev.lockstitch.errors.CancelledException;
import dev.lockstitch.errors.Failure;
import dev.lockstitch.errors.FieldViolation;
import dev.lockstitch.errors.LockstitchException;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.ProtoUtils;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * From a failed call to the error that says why: the trailing google.rpc.Status, read by reason and
 * never by text.
 */
final class Failures {

  private static final String DOMAIN = "lockstitch.dev";
  private static final Metadata.Key<com.google.rpc.Status> DETAILS =
      Metadata.Key.of(
          "grpc-status-details-bin",
          ProtoUtils.metadataMarshaller(com.google.rpc.Status.getDefaultInstance()));
  private static final Metadata.Key<String> PUSHBACK =
      Metadata.Key.of("grpc-retry-pushback-ms", Metadata.ASCII_STRING_MARSHALLER);
  private static final Set<Code> CUT = EnumSet.of(Code.CANCELLED, Code.INTERNAL, Code.UNKNOWN);

  private Failures() {}

  /**
   * The typed error of a failed call; {@code requestId} is that of the change it was, empty where
   * it was none.
   */
  static LockstitchException errorOf(StatusRuntimeException failure, String requestId) {
    ErrorInfo info = ErrorInfo.getDefaultInstance();
    List<FieldViolation> violations = new ArrayList<>();
    Duration retryAfter = null;
    for (Any detail : details(failure)) {
      Optional<RetryInfo> retry = unpacked(detail, RetryInfo.class);
      if (retry.isPresent()) {
        retryAfter = Wire.duration(retry.get().getRetryDelay());
      }
      unpacked(detail, BadRequest.class)
          .ifPresent(
              refused ->
                  refused
                      .getFieldViolationsList()
                      .forEach(
                          one ->
                              violations.add(
                                  new FieldViolation(one.getField(), one.getDescription()))));
      info =
          unpacked(detail, ErrorInfo.class)
              .filter(one -> one.getDomain().equals(DOMAIN))
              .orElse(info);
    }
    Status status = failure.getStatus();
    String message =
        status.getDescription() == null ? status.getCode().name() : status.getDescription();
    Failure told =
        new Failure(
            info.getReason(), info.getMetadataMap(), violations, retryAfter, requestId, failure);
    return Reasons.error(isOfNetwork(status) ? Code.UNAVAILABLE : status.getCode(), message, told);
  }

  /** Whether the connection broke while a call was written, which gRPC calls UNKNOWN. */
  private static boolean isOfNetwork(Status status) {
    return status.getCode() == Code.UNKNOWN && status.getCause() instanceof IOException;
  }

  /**
   * How long the server wants a retry to wait; negative where it wants none at all; null where it
   * did not say.
   */
  static Duration pushback(StatusRuntimeException failure) {
    Metadata trailers = failure.getTrailers();
    String said = trailers == null ? null : trailers.get(PUSHBACK);
    if (said == null) {
      return null;
    }
    // As gRPC itself reads what it can't read: no retry.
    return Duration.ofMillis(said.matches("[0-9]{1,9}") ? Long.parseLong(said) : -1);
  }

  /**
   * Whether a stream failed as a cut connection can make it, beside UNAVAILABLE: no server of ours
   * gave a reason.
   */
  static boolean isCut(LockstitchException error) {
    return error.reason().isEmpty() && CUT.contains(error.code());
  }

  /** The same error, for a call that was not made because of it. */
  static LockstitchException again(LockstitchException told) {
    Failure failure = new Failure(told.reason(), told.metadata(), List.of(), null, "", told);
    return Reasons.error(told.code(), told.getMessage(), failure);
  }

  /** What a wait ends with whose thread was interrupted; the thread stays so. */
  static CancelledException interrupted(InterruptedException interrupt, String requestId) {
    Thread.currentThread().interrupt();
    return new CancelledException(
        "The thread was interrupted.", Failure.causedBy(interrupt, requestId));
  }

  private static List<Any> details(StatusRuntimeException failure) {
    Metadata trailers = failure.getTrailers();
    try {
      com.google.rpc.Status rich = trailers == null ? null : trailers.get(DETAILS);
      return rich == null ? List.of() : rich.getDetailsList();
    } catch (IllegalArgumentException unreadable) {
      return List.of(); // a proxy's own; the code still tells
    }
  }

  private static <T extends Message> Optional<T> unpacked(Any detail, Class<T> kind) {
    try {
      return detail.is(kind) ? Optional.of(detail.unpack(kind)) : Optional.empty();
    } catch (InvalidProtocolBufferException unreadable) {
      return Optional.empty();
    }
  }
}
