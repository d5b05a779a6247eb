package dev.lockstitch;

import dev.lockstitch.errors.LockstitchException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Waits for what becomes so by time. */
final class Waiting {

  private static final Duration MOST = Duration.ofSeconds(20);
  private static final CountDownLatch NEVER = new CountDownLatch(1);

  private Waiting() {}

  /** Asks again and again until what is asked does not fail. */
  static void until(Asked asked) throws Exception {
    long end = System.nanoTime() + MOST.toNanos();
    while (true) {
      try {
        asked.ask();
        return;
      } catch (AssertionError | LockstitchException notYet) {
        if (System.nanoTime() - end >= 0) {
          throw notYet;
        }
        NEVER.await(50, TimeUnit.MILLISECONDS);
      }
    }
  }

  /** What is asked. */
  @FunctionalInterface
  interface Asked {
    void ask() throws Exception;
  }
}
