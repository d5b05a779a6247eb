package dev.lockstitch.errors;

/** The session's time has passed: restore it with a new life. */
public final class SessionExpiredException extends FailedPreconditionException {

  private static final long serialVersionUID = 1;

  /** A failure of this reason. */
  public SessionExpiredException(String message, Failure failure) {
    super(message, failure);
  }
}
