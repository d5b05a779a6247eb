package dev.lockstitch;

/**
 * The tokens of a client's retries, as gRPC's retry throttling counts them. Shared by all calls of
 * a client.
 */
final class RetryBudget {

  private static final int MOST = 10_000;
  private static final int OF_A_FAILURE = 10;
  private static final int OF_AN_ANSWER = 1;

  /** In tenths. */
  private int tokens = MOST;

  /** An attempt was answered, if only with another error than UNAVAILABLE. */
  synchronized void succeeded() {
    tokens = Math.min(tokens + OF_AN_ANSWER, MOST);
  }

  /** An attempt was not answered. True where the budget still allows another one. */
  synchronized boolean failed() {
    tokens = Math.max(tokens - OF_A_FAILURE, 0);
    return tokens > MOST / 2;
  }
}
