package dev.lockstitch.errors;

/** Two open tool calls have this provider's id: name one by {@code tool_call_id}. */
public final class ToolCallAmbiguousException extends FailedPreconditionException {

  private static final long serialVersionUID = 1;

  /** A failure of this reason. */
  public ToolCallAmbiguousException(String message, Failure failure) {
    super(message, failure);
  }
}
