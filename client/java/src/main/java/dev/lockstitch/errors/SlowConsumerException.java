package dev.lockstitch.errors;

/** A stream took nothing for so long that the server ended it. A subscription resumes by itself. */
public final class SlowConsumerException extends ResourceExhaustedException {

  private static final long serialVersionUID = 1;

  /** A failure of this reason. */
  public SlowConsumerException(String message, Failure failure) {
    super(message, failure);
  }
}
