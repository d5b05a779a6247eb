package dev.lockstitch.errors;

/** The message id was used in this session before. */
public final class MessageIdExistsException extends AlreadyExistsException {

  private static final long serialVersionUID = 1;

  /** A failure of this reason. */
  public MessageIdExistsException(String message, Failure failure) {
    super(message, failure);
  }
}
