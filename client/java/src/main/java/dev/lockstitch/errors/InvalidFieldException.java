package dev.lockstitch.errors;

/** A field is missing, malformed or outside its range. {@link #fieldViolations} names it. */
public final class InvalidFieldException extends InvalidArgumentException {

  private static final long serialVersionUID = 1;

  /** A failure of this reason. */
  public InvalidFieldException(String message, Failure failure) {
    super(message, failure);
  }
}
