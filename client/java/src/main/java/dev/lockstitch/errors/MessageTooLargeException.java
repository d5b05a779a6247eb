package dev.lockstitch.errors;

/** One message is larger than a request may be. */
public final class MessageTooLargeException extends InvalidArgumentException {

  private static final long serialVersionUID = 1;

  /** A failure of this reason. */
  public MessageTooLargeException(String message, Failure failure) {
    super(message, failure);
  }

  /** The most bytes of a request's content. */
  public long limitBytes() {
    return number("limit_bytes");
  }
}
