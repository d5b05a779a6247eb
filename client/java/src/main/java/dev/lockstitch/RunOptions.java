package dev.lockstitch;

import dev.lockstitch.v1.OnBusy;
import dev.lockstitch.v1.StartRunRequest;
import java.time.Duration;
import java.util.Map;

/**
 * How a run is started: {@code RunOptions.worker("engine-1").lease(Duration.ofSeconds(10))}.
 * Options are not changed: each of these gives others.
 */
public final class RunOptions {

  private static final Duration LEASE = Duration.ofSeconds(30);

  private final StartRunRequest request;

  private RunOptions(StartRunRequest request) {
    this.request = request;
  }

  /** Who holds it, in your words, at most 128 characters. */
  public static RunOptions worker(String worker) {
    return new RunOptions(
        StartRunRequest.newBuilder()
            .setWorker(worker)
            .setLease(Wire.duration(LEASE))
            .setOnBusy(OnBusy.ON_BUSY_REJECT)
            .build());
  }

  /**
   * How long it is safe from takeover without being renewed, 1 second to 1 hour. Defaults to 30
   * seconds.
   */
  public RunOptions lease(Duration lease) {
    return new RunOptions(request.toBuilder().setLease(Wire.duration(lease)).build());
  }

  /**
   * Where a run is active: REJECT fails with {@link dev.lockstitch.errors.RunActiveException}, JOIN
   * gives that run, INTERRUPT ends it as SUPERSEDED, so that its holder is fenced. Defaults to
   * REJECT.
   */
  public RunOptions onBusy(OnBusy onBusy) {
    return new RunOptions(request.toBuilder().setOnBusy(onBusy).build());
  }

  /** At most 64, kept with the run. */
  public RunOptions labels(Map<String, String> labels) {
    return new RunOptions(request.toBuilder().clearLabels().putAllLabels(labels).build());
  }

  /**
   * Your own id for it, used once in its session; the server makes one otherwise. Joining a run by
   * its own id takes it up as yours.
   */
  public RunOptions runId(String runId) {
    return new RunOptions(request.toBuilder().setRunId(runId).build());
  }

  /** Refuses unless the session is at this version. */
  public RunOptions expectedVersion(long version) {
    return new RunOptions(request.toBuilder().setExpectedVersion(version).build());
  }

  /** The start's own id; one is made where it is left out. */
  public RunOptions requestId(String requestId) {
    return new RunOptions(request.toBuilder().setRequestId(requestId).build());
  }

  StartRunRequest request() {
    return request;
  }
}
