package dev.lockstitch.errors;

/** A result or change names a tool call that nobody made in this session. */
public final class ToolCallNotFoundException extends NotFoundException {

  private static final long serialVersionUID = 1;

  /** A failure of this reason. */
  public ToolCallNotFoundException(String message, Failure failure) {
    super(message, failure);
  }
}
