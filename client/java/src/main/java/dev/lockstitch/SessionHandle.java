package dev.lockstitch;

import dev.lockstitch.v1.CancelRunRequest;
import dev.lockstitch.v1.CancelRunResponse;
import dev.lockstitch.v1.CloseSessionRequest;
import dev.lockstitch.v1.CloseSessionResponse;
import dev.lockstitch.v1.Commit;
import dev.lockstitch.v1.DeleteSessionRequest;
import dev.lockstitch.v1.DeleteSessionResponse;
import dev.lockstitch.v1.ForkSessionRequest;
import dev.lockstitch.v1.ForkSessionResponse;
import dev.lockstitch.v1.OnBusy;
import dev.lockstitch.v1.RestoreSessionRequest;
import dev.lockstitch.v1.RestoreSessionResponse;
import dev.lockstitch.v1.RunServiceGrpc;
import dev.lockstitch.v1.SessionServiceGrpc;
import dev.lockstitch.v1.StartRunRequest;
import dev.lockstitch.v1.StartRunResponse;
import dev.lockstitch.v1.SubscribeRequest;
import dev.lockstitch.v1.SubscribeResponse;
import dev.lockstitch.v1.UndeleteSessionRequest;
import dev.lockstitch.v1.UndeleteSessionResponse;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.function.Function;

/**
 * One session, as its client sees it. Made by {@link Client#create}, {@link Client#get} and {@link
 * Client#session}.
 */
public final class SessionHandle extends SessionChanges {

  SessionHandle(Transport transport, String sessionId, Seen seen) {
    super(transport, sessionId, seen);
  }

  /** The same handle, whose calls may take another time, all attempts of each together. */
  public SessionHandle withTimeout(Duration timeout) {
    return new SessionHandle(transport.withTimeout(timeout), sessionId, seen);
  }

  /**
   * Closes the session: it takes no more changes until it is restored. Closing a closed one changes
   * nothing.
   */
  public CloseSessionResponse close(CloseSessionRequest request) {
    return change(SessionServiceGrpc.getCloseSessionMethod(), request);
  }

  /** Makes a closed or expired session active again. Restoring an active one changes nothing. */
  public RestoreSessionResponse restore(RestoreSessionRequest request) {
    return change(SessionServiceGrpc.getRestoreSessionMethod(), request);
  }

  /**
   * Deletes the session: only who asks for deleted ones still sees it, until its {@code
   * purge_time}.
   */
  public DeleteSessionResponse delete(DeleteSessionRequest request) {
    return change(SessionServiceGrpc.getDeleteSessionMethod(), request);
  }

  /** Makes a deleted session what it was. */
  public UndeleteSessionResponse undelete(UndeleteSessionRequest request) {
    return change(SessionServiceGrpc.getUndeleteSessionMethod(), request);
  }

  /** Makes a session of its own out of this one, as it is or was. */
  public SessionHandle fork(ForkSessionRequest request) {
    ForkSessionResponse response = call(SessionServiceGrpc.getForkSessionMethod(), request);
    Seen fresh = new Seen();
    fresh.made(response.getReceipt(), null, false);
    fresh.note(response.getSession());
    return new SessionHandle(transport, response.getSession().getSessionId(), fresh);
  }

  /**
   * Asks a run to end: its holder sees {@link RunHandle#isCancelRequested} when it renews. With
   * {@code now} it is ended and fenced.
   */
  public CancelRunResponse cancelRun(CancelRunRequest request) {
    return change(RunServiceGrpc.getCancelRunMethod(), request);
  }

  /**
   * Holds a run while a body works: started here, renewed in the background, ended with the body.
   *
   * <p>It ends as SUCCEEDED where the body ends, as FAILED with the error's text (8 KiB of it)
   * where it throws, as CANCELLED where that was an InterruptedException or a
   * CancellationException; or earlier, as {@link RunHandle#finish} or an append's {@code
   * finish_run} says. A run that was joined is renewed and fenced like one's own, but left running:
   * who started it ends it. Fails with {@link dev.lockstitch.errors.RunFencedException} where
   * somebody else took over meanwhile.
   */
  public <E extends Exception> void run(RunOptions options, RunBody<E> body) throws E {
    RunHandle run = startRun(options);
    try {
      try {
        body.with(run);
      } catch (Throwable error) {
        run.endAfter(error);
        throw error;
      }
      run.endWell();
    } finally {
      run.release();
    }
  }

  /**
   * The same run without a body: it is renewed until it is finished or closed. Say how it ended;
   * one that is closed before ends as FAILED.
   */
  public RunHandle startRun(RunOptions options) {
    StartRunRequest.Builder asked = options.request().toBuilder();
    if (asked.getRequestId().isEmpty()) {
      asked.setRequestId(Transport.newRequestId());
    }
    boolean mayJoin = asked.getOnBusy() == OnBusy.ON_BUSY_JOIN;
    if (mayJoin && asked.getRunId().isEmpty()) {
      // A name made here, the same for a retry, tells another run in the answer: a joined one's.
      asked.setRunId(nameOf(sessionId, asked.getRequestId()));
    }
    StartRunResponse response = call(RunServiceGrpc.getStartRunMethod(), asked.build());
    boolean isJoined = mayJoin && !response.getRun().getRunId().equals(asked.getRunId());
    if (!isJoined && response.getRun().getStartedVersion() == response.getReceipt().getVersion()) {
      Long expected = asked.hasExpectedVersion() ? asked.getExpectedVersion() : null;
      seen.made(response.getReceipt(), expected, false);
    }
    // Of a lease that was granted before now, nobody knows how much is left.
    boolean atOnce = mayJoin || response.getReceipt().getReplayed();
    Lease lease = new Lease(transport, response.getRun(), Wire.duration(asked.getLease()), atOnce);
    return new RunHandle(transport, sessionId, seen, lease, isJoined);
  }

  /** The session's commits behind what this handle has seen, then each as it is made. */
  public Subscription<Commit> subscribe() {
    return subscribe(version());
  }

  /**
   * The session's commits behind a version (0 gives all), then each as it is made. {@link #version}
   * moves on with each.
   */
  public Subscription<Commit> subscribe(long afterVersion) {
    return subscribe(SubscribeRequest.newBuilder().setAfterVersion(afterVersion).build());
  }

  /**
   * The session's commits as the request says. {@link #version} moves on with each, but not where
   * {@code roles} hide some.
   */
  public Subscription<Commit> subscribe(SubscribeRequest request) {
    return following(request, frame -> frame.hasCommit() ? frame.getCommit() : null);
  }

  /**
   * The same, with every frame that the server sends, for those who show whether they are live, or
   * text while it is generated. Left out, the heartbeat is 15 seconds.
   */
  public Subscription<SubscribeResponse> frames(SubscribeRequest request) {
    return following(request, Function.identity());
  }

  private <T> Subscription<T> following(
      SubscribeRequest request, Function<SubscribeResponse, T> item) {
    Frames frames = new Frames(transport, request.toBuilder().setSessionId(sessionId).build());
    return new Subscription<>(
        frames,
        frame -> {
          if (frame.hasCommit()) {
            follows(frame.getCommit(), frames.isWhole());
          }
          return item.apply(frame);
        });
  }

  private void follows(Commit commit, boolean isWhole) {
    if (isWhole) {
      seen.upTo(commit.getVersion());
    }
    if (commit.hasSession()) {
      seen.note(commit.getSession());
    }
  }

  private static String nameOf(String sessionId, String requestId) {
    try {
      byte[] seed = (sessionId + " " + requestId).getBytes(StandardCharsets.UTF_8);
      byte[] hash = MessageDigest.getInstance("SHA-256").digest(seed);
      return "run_" + HexFormat.of().formatHex(hash, 0, 16);
    } catch (NoSuchAlgorithmException absent) {
      throw new IllegalStateException("Every Java has SHA-256.", absent);
    }
  }
}
