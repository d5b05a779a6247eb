package dev.lockstitch;

import com.google.protobuf.Message;
import dev.lockstitch.errors.LockstitchException;
import dev.lockstitch.errors.RunFencedException;
import dev.lockstitch.v1.AppendRequest;
import dev.lockstitch.v1.FinishRunRequest;
import dev.lockstitch.v1.FinishRunResponse;
import dev.lockstitch.v1.Run;
import dev.lockstitch.v1.RunServiceGrpc;
import dev.lockstitch.v1.RunStatus;
import io.grpc.MethodDescriptor;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionStage;

/**
 * A run that is held here, made by {@link SessionHandle#run} and {@link SessionHandle#startRun}.
 *
 * <p>It changes and reads the session as {@link SessionHandle} does, and what that has seen, this
 * has seen too. Every change carries the run's fence: once somebody else has taken the run over,
 * interrupted or ended it, it is refused with {@link RunFencedException}, and nothing is stored.
 * From the moment that this is known, everything that is asked of the run fails with it. The fence
 * is a guard: values computed from old ones need no other.
 */
public final class RunHandle extends SessionChanges implements AutoCloseable {

  private static final int ERROR_BYTES_MAX = 8192;

  private final Lease lease;
  private final boolean isJoined;

  RunHandle(Transport transport, String sessionId, Seen seen, Lease lease, boolean isJoined) {
    super(transport, sessionId, seen);
    this.lease = lease;
    this.isJoined = isJoined;
  }

  /** The run as it was last told: when it was started, or renewed. */
  public Run state() {
    return lease.run();
  }

  /** Which run. */
  public String runId() {
    return lease.run().getRunId();
  }

  /**
   * The token that its changes carry: higher than that of every run before it. A tool may compare
   * it likewise.
   */
  public long fencingToken() {
    return lease.run().getFencingToken();
  }

  /** Whether somebody else started it: then it is left running when it is left. */
  public boolean isJoined() {
    return isJoined;
  }

  /**
   * Whether it is known to be over, by somebody else: what was begun under it, such as a tool,
   * should stop.
   */
  public boolean isLost() {
    return lease.loss() != null;
  }

  /** Completes when {@link #isLost} becomes true, with the error that says why. */
  public CompletionStage<LockstitchException> lost() {
    return lease.lost();
  }

  /** Whether somebody asked it to end, as the last renewal told. */
  public boolean isCancelRequested() {
    return lease.run().getCancelRequested();
  }

  /** Until when nobody may take it over, by the database's clock, as the last renewal told. */
  public Instant leaseExpireTime() {
    var told = lease.run().getLeaseExpireTime();
    return Instant.ofEpochSecond(told.getSeconds(), told.getNanos());
  }

  /**
   * Renews the lease now, and gives the run: before an act that nobody can take back, say. It is
   * renewed in the background anyway.
   */
  public Run renew() {
    return lease.renew(transport.timeout());
  }

  /** Ends the run before its body does, as SUCCEEDED. Tool calls stay as they are. */
  public FinishRunResponse finish() {
    return finish(RunStatus.RUN_STATUS_SUCCEEDED, "");
  }

  /** Ends the run as SUCCEEDED, FAILED or CANCELLED, and says why, in at most 65,536 bytes. */
  public FinishRunResponse finish(RunStatus status, String error) {
    return finish(FinishRunRequest.newBuilder().setStatus(status).setError(error).build());
  }

  /**
   * Ends the run. {@link AppendRequest}'s {@code finish_run} does it in one commit with the last
   * messages.
   */
  public FinishRunResponse finish(FinishRunRequest request) {
    return change(RunServiceGrpc.getFinishRunMethod(), request);
  }

  /** Any unary method of the wire under this run: with its fence. */
  @Override
  public <I extends Message, O extends Message> O call(MethodDescriptor<I, O> method, I request) {
    boolean finishes =
        request instanceof FinishRunRequest
            || (request instanceof AppendRequest append && append.hasFinishRun());
    I fenced = Wire.with(request, "fence", lease.fence());
    return lease.calling(finishes, () -> super.call(method, fenced));
  }

  /**
   * Leaves the run: one that nobody has ended ends as FAILED, since an end that nobody said is no
   * success.
   */
  @Override
  public void close() {
    try {
      if (!isOver() && !isJoined) {
        finish(RunStatus.RUN_STATUS_FAILED, "It was left before it was ended.");
      }
    } finally {
      lease.release();
    }
  }

  void endWell() {
    if (lease.hasEnded()) {
      return;
    }
    if (!isJoined) {
      finish();
    } else if (lease.loss() instanceof RunFencedException) {
      lease.refuseLost();
    }
  }

  void endAfter(Throwable error) {
    if (isOver() || isJoined) {
      return;
    }
    boolean isCancelled =
        error instanceof InterruptedException || error instanceof CancellationException;
    RunStatus status = isCancelled ? RunStatus.RUN_STATUS_CANCELLED : RunStatus.RUN_STATUS_FAILED;
    // An interrupted thread may still say how its run ended.
    boolean wasInterrupted = Thread.interrupted();
    try {
      finish(status, textOf(error));
    } catch (RuntimeException failure) {
      error.addSuppressed(failure);
    } finally {
      if (wasInterrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  void release() {
    lease.release();
  }

  private boolean isOver() {
    return lease.hasEnded() || lease.loss() != null;
  }

  /** 8 KiB of an error's text, cut between characters. */
  private static String textOf(Throwable error) {
    String said = error.getMessage();
    String name = error.getClass().getSimpleName();
    String text = said == null || said.isEmpty() ? name : name + ": " + said;
    ByteBuffer bytes = ByteBuffer.allocate(ERROR_BYTES_MAX);
    StandardCharsets.UTF_8
        .newEncoder()
        .onMalformedInput(CodingErrorAction.REPLACE)
        .encode(CharBuffer.wrap(text), bytes, true);
    return new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8);
  }
}
