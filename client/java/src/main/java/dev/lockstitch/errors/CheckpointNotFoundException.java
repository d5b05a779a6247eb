package dev.lockstitch.errors;

/** There is no such checkpoint in this session and namespace. */
public final class CheckpointNotFoundException extends NotFoundException {

  private static final long serialVersionUID = 1;

  /** A failure of this reason. */
  public CheckpointNotFoundException(String message, Failure failure) {
    super(message, failure);
  }
}
