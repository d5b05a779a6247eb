package dev.lockstitch.errors;

/** There is no such message in this session. */
public final class MessageNotFoundException extends NotFoundException {

  private static final long serialVersionUID = 1;

  /** A failure of this reason. */
  public MessageNotFoundException(String message, Failure failure) {
    super(message, failure);
  }
}
