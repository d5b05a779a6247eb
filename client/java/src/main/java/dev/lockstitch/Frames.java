package dev.lockstitch;

import dev.lockstitch.errors.CancelledException;
import dev.lockstitch.errors.Failure;
import dev.lockstitch.errors.LockstitchException;
import dev.lockstitch.errors.SlowConsumerException;
import dev.lockstitch.errors.SubscriptionLimitException;
import dev.lockstitch.errors.TokenExpiredException;
import dev.lockstitch.errors.UnavailableException;
import dev.lockstitch.v1.SessionServiceGrpc;
import dev.lockstitch.v1.SubscribeRequest;
import dev.lockstitch.v1.SubscribeResponse;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.concurrent.TimeoutException;

/**
 * One session followed over as many streams as it takes, each from where the last one ended: frames
 * in order, each commit once.
 *
 * <p>The request is kept up to date: it is what the next attempt sends.
 */
final class Frames {

  /**
   * A stream that is silent for so many tenths of its heartbeats has lost its network without a
   * word.
   */
  private static final int SILENT_TENTHS = 25;

  /**
   * How many attempts in a row may end before their first frame, for a reason that a further one
   * may or may not mend.
   */
  private static final int REFUSALS_MAX = 3;

  private static final Duration HEARTBEAT = Duration.ofSeconds(15);

  private final Transport transport;
  private final SubscribeRequest.Builder request;
  private final Duration silence;
  private final long firstOpeningEnds;
  private volatile boolean hasEnded;
  private volatile Stream<SubscribeResponse> stream;
  private Duration wait = Duration.ZERO;
  private Waits waits;
  private int refusals;
  private boolean isOpen;
  private boolean wasOpen;

  Frames(Transport transport, SubscribeRequest request) {
    this.transport = transport;
    this.request = request.toBuilder();
    if (!request.hasHeartbeatInterval()) {
      this.request.setHeartbeatInterval(Wire.duration(HEARTBEAT));
    }
    Duration heartbeat = Wire.duration(this.request.getHeartbeatInterval());
    this.silence = heartbeat.multipliedBy(SILENT_TENTHS).dividedBy(10);
    this.firstOpeningEnds = System.nanoTime() + transport.timeout().toNanos();
  }

  /** Whether all commits are given, and all of each. */
  boolean isWhole() {
    return request.getRolesCount() == 0;
  }

  /** The next frame; null where it was ended here. Throws what no further attempt can mend. */
  SubscribeResponse next() {
    while (!hasEnded) {
      try {
        SubscribeResponse frame = read();
        if (frame == null) {
          lost(unavailable("The stream ended without a reason.", null));
        } else if (movesOn(frame)) {
          return frame;
        }
      } catch (TimeoutException silent) {
        lost(unavailable("The server was silent for longer than its heartbeats.", silent));
      } catch (StatusRuntimeException failure) {
        lost(transport.errorOf(failure, ""));
      } catch (InterruptedException interrupt) {
        end();
        throw Failures.interrupted(interrupt, "");
      }
    }
    return null;
  }

  /** Ends the stream, from whichever thread. */
  void end() {
    hasEnded = true;
    endStream();
  }

  private SubscribeResponse read() throws InterruptedException, TimeoutException {
    Stream<SubscribeResponse> open = stream;
    if (open == null) {
      isOpen = false;
      transport.pause(wait, "");
      open = transport.open(SessionServiceGrpc.getSubscribeMethod(), request.build());
      stream = open;
      if (hasEnded) {
        open.end();
      }
    }
    return open.read(isOpen ? silence : transport.timeout());
  }

  /**
   * Notes how far the stream is; false for a frame that is nobody's business, such as a commit
   * given before.
   */
  private boolean movesOn(SubscribeResponse frame) {
    isOpen = true;
    wasOpen = true;
    refusals = 0;
    if (frame.hasOpened()) {
      // Not yet a reason to begin with short waits again: a server may open streams and lose them
      // at once.
      request.setStoreEpoch(frame.getOpened().getStoreEpoch());
      return true;
    }
    waits = null;
    switch (frame.getFrameCase()) {
      case COMMIT -> {
        if (frame.getCommit().getVersion() <= request.getAfterVersion()) {
          return false;
        }
        request.setAfterVersion(frame.getCommit().getVersion());
      }
      case CAUGHT_UP -> request.setAfterVersion(frame.getCaughtUp().getVersion());
      case FELL_BEHIND -> request.setAfterVersion(frame.getFellBehind().getVersion());
      case HEARTBEAT -> request.setAfterVersion(frame.getHeartbeat().getVersion());
      case DRAINING -> {
        request.setAfterVersion(frame.getDraining().getVersion());
        wait = Wire.duration(frame.getDraining().getReconnectAfter());
        endStream();
      }
      case FRAME_NOT_SET -> {
        return false;
      }
      default -> {}
    }
    return true;
  }

  /** Makes ready for another attempt, or throws the error if that would be in vain. */
  private void lost(LockstitchException error) {
    endStream();
    if (hasEnded) {
      return;
    }
    if (transport.isClosed()) {
      throw new CancelledException(
          "The client was closed during the subscription.", Failure.causedBy(error, ""));
    }
    if (!mayBeMended(error)) {
      throw error;
    }
    waits = waits == null ? Waits.ofResuming() : waits;
    Duration backoff = waits.next();
    Duration least = error.retryAfter().orElse(Duration.ZERO);
    wait = backoff.compareTo(least) < 0 ? least : backoff;
    if (!wasOpen && System.nanoTime() + wait.toNanos() - firstOpeningEnds >= 0) {
      throw error;
    }
  }

  private boolean mayBeMended(LockstitchException error) {
    if (error instanceof UnavailableException || error instanceof SlowConsumerException) {
      return true;
    }
    if (error instanceof SubscriptionLimitException) {
      // The place may be taken by our own stream, of which the server does not know yet that it is
      // dead.
      return wasOpen;
    }
    if (error instanceof TokenExpiredException || Failures.isCut(error)) {
      refusals++;
      return refusals < REFUSALS_MAX;
    }
    return false;
  }

  private void endStream() {
    Stream<SubscribeResponse> open = stream;
    stream = null;
    if (open != null) {
      open.end();
    }
  }

  private static UnavailableException unavailable(String message, Throwable cause) {
    return new UnavailableException(message, Failure.causedBy(cause, ""));
  }
}
