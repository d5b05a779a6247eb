package dev.lockstitch;

import dev.lockstitch.errors.LockstitchException;
import dev.lockstitch.errors.NotFoundException;
import dev.lockstitch.errors.RunEndedException;
import dev.lockstitch.errors.RunFencedException;
import dev.lockstitch.errors.SessionDeletedException;
import dev.lockstitch.v1.Fence;
import dev.lockstitch.v1.RenewRunRequest;
import dev.lockstitch.v1.Run;
import dev.lockstitch.v1.RunServiceGrpc;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The lease of a run that is held here: renewed in the background, until the run ends or is
 * somebody else's. Knows what became of it, from renewals and from what the run's own changes were
 * told.
 */
final class Lease {

  /** How often a lease is renewed before it would run out. */
  private static final int RENEWALS_A_LEASE = 3;

  private static final Duration TIMEOUT_MIN = Duration.ofSeconds(1);

  private final Transport transport;
  private final Duration length;
  private final Fence fence;
  private final CompletableFuture<LockstitchException> lost = new CompletableFuture<>();
  private final CountDownLatch released = new CountDownLatch(1);
  private final Thread renewing;
  private volatile Run run;
  private volatile LockstitchException loss;
  private volatile boolean hasEnded;
  private int endings;

  /** Begins to renew; {@code atOnce} where nobody knows how much of the lease is left. */
  Lease(Transport transport, Run run, Duration length, boolean atOnce) {
    this.transport = transport;
    this.length = length;
    this.run = run;
    this.fence =
        Fence.newBuilder().setRunId(run.getRunId()).setFencingToken(run.getFencingToken()).build();
    Duration first = atOnce ? Duration.ZERO : length.dividedBy(RENEWALS_A_LEASE);
    this.renewing = new Thread(() -> renewOn(first), "lockstitch-renew-" + run.getRunId());
    renewing.setDaemon(true);
    renewing.start();
  }

  /** What the run's changes carry. */
  Fence fence() {
    return fence;
  }

  /** The run as it was last told. */
  Run run() {
    return run;
  }

  /** Whether it was ended here. */
  boolean hasEnded() {
    return hasEnded;
  }

  /** Why it is not held here any more; null while it is, and where it was ended here. */
  LockstitchException loss() {
    return loss;
  }

  /** Comes true with the loss. */
  CompletableFuture<LockstitchException> lost() {
    return lost.copy();
  }

  /** Stops renewing, and waits for the thread that does. */
  void release() {
    released.countDown();
    renewing.interrupt();
    boolean wasInterrupted = false;
    while (renewing.isAlive()) {
      try {
        renewing.join();
      } catch (InterruptedException interrupt) {
        wasInterrupted = true;
      }
    }
    if (wasInterrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Renews the lease now. Throws what says that it is lost. */
  Run renew(Duration timeout) {
    RenewRunRequest request =
        RenewRunRequest.newBuilder()
            .setSessionId(run.getSessionId())
            .setFence(fence)
            .setLease(Wire.duration(length))
            .build();
    Transport within = transport.withTimeout(timeout);
    run = calling(false, () -> within.call(RunServiceGrpc.getRenewRunMethod(), request)).getRun();
    return run;
  }

  /** Makes a call under the run; {@code finishes} where it is to end the run as well. */
  <T> T calling(boolean finishes, Supplier<T> call) {
    refuseLost();
    begins(finishes);
    try {
      T answer = call.get();
      hasEnded = hasEnded || finishes;
      return answer;
    } catch (RunFencedException fenced) {
      lose(fenced, fenced.runId());
      throw fenced;
    } catch (RunEndedException ended) {
      lose(ended, ended.runId());
      throw ended;
    } finally {
      ends(finishes);
    }
  }

  /** Throws why the run is not held here any more, if it is not. */
  void refuseLost() {
    LockstitchException told = loss;
    if (told != null) {
      throw Failures.again(told);
    }
  }

  private synchronized void begins(boolean finishes) {
    endings += finishes ? 1 : 0;
  }

  private synchronized void ends(boolean finishes) {
    endings -= finishes ? 1 : 0;
  }

  private void lose(LockstitchException error, String runId) {
    // A change of another run's memory may be told of that run's end.
    if (!runId.equals(run.getRunId())) {
      return;
    }
    synchronized (this) {
      // While it is being ended here, its end is no loss.
      if (endings > 0 || hasEnded || loss != null) {
        return;
      }
      loss = error;
    }
    lost.complete(error);
  }

  private void renewOn(Duration first) {
    Duration every = length.dividedBy(RENEWALS_A_LEASE);
    Duration timeout = every.compareTo(TIMEOUT_MIN) < 0 ? TIMEOUT_MIN : every;
    Waits waits = Waits.ofCall();
    Duration wait = first;
    while (goesOnAfter(wait)) {
      try {
        renew(timeout);
        waits = Waits.ofCall();
        wait = every;
      } catch (RunFencedException
          | RunEndedException
          | NotFoundException
          | SessionDeletedException over) {
        lose(over, run.getRunId());
        wait = every;
      } catch (RuntimeException trouble) {
        // Whatever it is, a token that can't be had too, the lease may yet be saved.
        Duration backoff = waits.next();
        wait = backoff.compareTo(every) < 0 ? backoff : every;
      }
    }
  }

  private boolean goesOnAfter(Duration wait) {
    try {
      if (released.await(wait.toNanos(), TimeUnit.NANOSECONDS)) {
        return false;
      }
    } catch (InterruptedException interrupt) {
      return false;
    }
    return loss == null && !hasEnded && !transport.isClosed();
  }
}
