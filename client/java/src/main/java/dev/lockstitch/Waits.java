package dev.lockstitch;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/** Waits that grow with each attempt, spread so that callers do not all come at once. */
final class Waits {

  private static final double FIRST_MILLIS = 100;
  private static final double GROWTH = 2;

  private final double mostMillis;
  private final double spread;
  private double millis = FIRST_MILLIS;

  private Waits(double mostMillis, double spread) {
    this.mostMillis = mostMillis;
    this.spread = spread;
  }

  /** Before each further attempt of a call. */
  static Waits ofCall() {
    return new Waits(1000, 0.2);
  }

  /**
   * Before each further attempt to resume a subscription: there may be thousands, and all lost
   * their server at once.
   */
  static Waits ofResuming() {
    return new Waits(5000, 0.8);
  }

  Duration next() {
    double wait = millis * ThreadLocalRandom.current().nextDouble(1 - spread, 1 + spread);
    millis = Math.min(millis * GROWTH, mostMillis);
    return Duration.ofNanos(Math.round(wait * 1e6));
  }
}
