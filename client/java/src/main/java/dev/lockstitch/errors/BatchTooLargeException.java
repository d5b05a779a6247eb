package dev.lockstitch.errors;

/**
 * A request holds too much content (the metadata's {@code limit_bytes}) or too many items ({@code
 * limit}).
 */
public final class BatchTooLargeException extends InvalidArgumentException {

  private static final long serialVersionUID = 1;

  /** A failure of this reason. */
  public BatchTooLargeException(String message, Failure failure) {
    super(message, failure);
  }
}
