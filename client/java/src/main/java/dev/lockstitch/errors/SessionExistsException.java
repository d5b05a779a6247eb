package dev.lockstitch.errors;

/** The session id is taken. */
public final class SessionExistsException extends AlreadyExistsException {

  private static final long serialVersionUID = 1;

  /** A failure of this reason. */
  public SessionExistsException(String message, Failure failure) {
    super(message, failure);
  }
}
