package dev.lockstitch.errors;

/** There is no such session: none at all, or somebody else's. */
public final class SessionNotFoundException extends NotFoundException {

  private static final long serialVersionUID = 1;

  /** A failure of this reason. */
  public SessionNotFoundException(String message, Failure failure) {
    super(message, failure);
  }
}
