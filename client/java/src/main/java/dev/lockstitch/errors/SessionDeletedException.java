package dev.lockstitch.errors;

/** The session is deleted: undelete it first. */
public final class SessionDeletedException extends FailedPreconditionException {

  private static final long serialVersionUID = 1;

  /** A failure of this reason. */
  public SessionDeletedException(String message, Failure failure) {
    super(message, failure);
  }
}
