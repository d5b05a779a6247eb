package dev.lockstitch.errors;

/** There is no such run in this session. */
public final class RunNotFoundException extends NotFoundException {

  private static final long serialVersionUID = 1;

  /** A failure of this reason. */
  public RunNotFoundException(String message, Failure failure) {
    super(message, failure);
  }
}
