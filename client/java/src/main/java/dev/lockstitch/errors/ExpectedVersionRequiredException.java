package dev.lockstitch.errors;

/** A change that is computed from an old value came without a guard. */
public final class ExpectedVersionRequiredException extends InvalidArgumentException {

  private static final long serialVersionUID = 1;

  /** A failure of this reason. */
  public ExpectedVersionRequiredException(String message, Failure failure) {
    super(message, failure);
  }
}
