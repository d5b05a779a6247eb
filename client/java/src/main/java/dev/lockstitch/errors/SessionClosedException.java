package dev.lockstitch.errors;

/** The session is closed: restore it first. */
public final class SessionClosedException extends FailedPreconditionException {

  private static final long serialVersionUID = 1;

  /** A failure of this reason. */
  public SessionClosedException(String message, Failure failure) {
    super(message, failure);
  }
}
