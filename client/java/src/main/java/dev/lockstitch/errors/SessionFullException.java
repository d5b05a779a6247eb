package dev.lockstitch.errors;

/** The session holds as many messages as it may. */
public final class SessionFullException extends ResourceExhaustedException {

  private static final long serialVersionUID = 1;

  /** A failure of this reason. */
  public SessionFullException(String message, Failure failure) {
    super(message, failure);
  }

  /** The most messages of a session. */
  public long limit() {
    return number("limit");
  }
}
