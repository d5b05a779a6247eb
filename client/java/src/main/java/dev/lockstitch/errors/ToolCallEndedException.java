package dev.lockstitch.errors;

/** The tool call has ended with another outcome, which stays. */
public final class ToolCallEndedException extends FailedPreconditionException {

  private static final long serialVersionUID = 1;

  /** A failure of this reason. */
  public ToolCallEndedException(String message, Failure failure) {
    super(message, failure);
  }
}
