package dev.lockstitch.errors;

/** The caller makes more calls than it may: come again after {@link #retryAfter}. */
public final class RateLimitedException extends ResourceExhaustedException {

  private static final long serialVersionUID = 1;

  /** A failure of this reason. */
  public RateLimitedException(String message, Failure failure) {
    super(message, failure);
  }

  /** How many calls a second it may make of one server process. */
  public long limit() {
    return number("limit");
  }
}
