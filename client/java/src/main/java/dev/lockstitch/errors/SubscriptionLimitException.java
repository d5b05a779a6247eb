package dev.lockstitch.errors;

/** As many streams are open as may be: of this user, of its tenant, or of the server. */
public final class SubscriptionLimitException extends ResourceExhaustedException {

  private static final long serialVersionUID = 1;

  /** A failure of this reason. */
  public SubscriptionLimitException(String message, Failure failure) {
    super(message, failure);
  }

  /** The most streams. */
  public long limit() {
    return number("limit");
  }
}
