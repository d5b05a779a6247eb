package dev.lockstitch;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import dev.lockstitch.errors.CancelledException;
import dev.lockstitch.errors.Failure;
import dev.lockstitch.errors.LockstitchException;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The one way out: every call of a client goes through here, with its token, its request_id and its
 * retries.
 */
final class Transport {

  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);
  private static final SecureRandom RANDOM = new SecureRandom();

  private final Connection connection;
  private final Supplier<String> token;
  private final RetryBudget budget;
  private final CountDownLatch closed;
  private final Duration timeout;

  Transport(Endpoint endpoint, Supplier<String> token, Duration timeout) {
    this(new Connection(endpoint), token, new RetryBudget(), new CountDownLatch(1), timeout);
  }

  private Transport(
      Connection connection,
      Supplier<String> token,
      RetryBudget budget,
      CountDownLatch closed,
      Duration timeout) {
    this.connection = connection;
    this.token = token;
    this.budget = budget;
    this.closed = closed;
    this.timeout = timeout;
  }

  /** The same way out, for calls that may take another time. */
  Transport withTimeout(Duration other) {
    return new Transport(connection, token, budget, closed, other);
  }

  /** How long a call may take, all attempts together. */
  Duration timeout() {
    return timeout;
  }

  /** An id that nobody used before: 128 random bits. */
  static String newRequestId() {
    byte[] bits = new byte[16];
    RANDOM.nextBytes(bits);
    return HexFormat.of().formatHex(bits);
  }

  /**
   * Calls one method and gives its answer. A request without a request_id gets one; UNAVAILABLE is
   * tried again with the same bytes until the call's time is up.
   */
  <I extends Message, O extends Message> O call(MethodDescriptor<I, O> method, I request) {
    I sent = withRequestId(request);
    String requestId = requestId(sent);
    Wire.refuseLoneSurrogates(sent);
    long deadline = System.nanoTime() + timeout.toNanos();
    Waits waits = Waits.ofCall();
    while (true) {
      try {
        return attempt(method, sent, deadline);
      } catch (StatusRuntimeException failure) {
        LockstitchException error = errorOf(failure, requestId);
        Duration wait = waitBeforeRetry(failure, error, waits.next());
        if (wait == null || System.nanoTime() + wait.toNanos() - deadline >= 0) {
          throw error;
        }
        pause(wait, requestId);
        // Else gRPC would wait by itself, up to two minutes, before it looks for a server again.
        connection.channel().resetConnectBackoff();
      }
    }
  }

  /** Opens a server stream with a fresh token: one attempt, whose failure shows when it is read. */
  <I, O> Stream<O> open(MethodDescriptor<I, O> method, I request) {
    ManagedChannel channel = connection.channel();
    channel.resetConnectBackoff();
    return new Stream<>(
        with(headers(), channel).newCall(method, CallOptions.DEFAULT),
        request,
        () -> connection.renew(channel));
  }

  /** A channel for stubs of the caller's own: with the token, and nothing else. */
  Channel channel() {
    return ClientInterceptors.intercept(connection.channel(), new TokenInterceptor(this::headers));
  }

  /** Waits, unless the client is closed meanwhile. */
  void pause(Duration wait, String requestId) {
    try {
      if (closed.await(wait.toNanos(), TimeUnit.NANOSECONDS)) {
        throw closedMeanwhile(requestId, null);
      }
    } catch (InterruptedException interrupt) {
      throw Failures.interrupted(interrupt, requestId);
    }
  }

  /** What a failed attempt is to the caller. */
  LockstitchException errorOf(StatusRuntimeException failure, String requestId) {
    return isClosed() ? closedMeanwhile(requestId, failure) : Failures.errorOf(failure, requestId);
  }

  /** Whether calls are refused. */
  boolean isClosed() {
    return closed.getCount() == 0;
  }

  /** Ends what is in flight. Later calls are refused. */
  void close() {
    closed.countDown();
    connection.close();
  }

  private <I extends Message, O extends Message> O attempt(
      MethodDescriptor<I, O> method, I request, long deadline) {
    Channel channel = with(headers(), connection.channel());
    long left = Math.max(deadline - System.nanoTime(), 0);
    CallOptions options = CallOptions.DEFAULT.withDeadlineAfter(left, TimeUnit.NANOSECONDS);
    O answer = ClientCalls.blockingUnaryCall(channel, method, options, request);
    budget.succeeded();
    return answer;
  }

  private Duration waitBeforeRetry(
      StatusRuntimeException failure, LockstitchException error, Duration backoff) {
    if (error.code() != Code.UNAVAILABLE) {
      budget.succeeded();
      return null;
    }
    Duration pushback = Failures.pushback(failure);
    if (!budget.failed() || (pushback != null && pushback.isNegative())) {
      return null;
    }
    // The server has the last word: a pushback replaces the backoff, RetryInfo is the least.
    Duration wait = pushback == null ? backoff : pushback;
    Duration least = error.retryAfter().orElse(Duration.ZERO);
    return wait.compareTo(least) < 0 ? least : wait;
  }

  private Metadata headers() {
    if (isClosed()) {
      throw new CancelledException("The client is closed.", Failure.BARE);
    }
    Metadata headers = new Metadata();
    String given = token.get();
    if (given != null) {
      if (!given.matches("[\\x20-\\x7e]*")) {
        throw Wire.refused("token", "holds characters that no header can carry");
      }
      headers.put(AUTHORIZATION, "Bearer " + given);
    }
    return headers;
  }

  private static Channel with(Metadata headers, Channel channel) {
    return ClientInterceptors.intercept(
        channel, MetadataUtils.newAttachHeadersInterceptor(headers));
  }

  private static <I extends Message> I withRequestId(I request) {
    return requestIdField(request) == null || !requestId(request).isEmpty()
        ? request
        : Wire.with(request, "request_id", newRequestId());
  }

  private static String requestId(Message request) {
    FieldDescriptor field = requestIdField(request);
    return field == null ? "" : (String) request.getField(field);
  }

  private static FieldDescriptor requestIdField(Message request) {
    return request.getDescriptorForType().findFieldByName("request_id");
  }

  private static CancelledException closedMeanwhile(String requestId, Throwable cause) {
    return new CancelledException(
        "The client was closed meanwhile.", Failure.causedBy(cause, requestId));
  }
}
