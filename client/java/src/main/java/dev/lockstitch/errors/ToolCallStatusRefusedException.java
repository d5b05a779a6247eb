package dev.lockstitch.errors;

/**
 * The tool call can't go from its status to the one asked for (reason {@code TOOL_CALL_STATUS}).
 */
public final class ToolCallStatusRefusedException extends FailedPreconditionException {

  private static final long serialVersionUID = 1;

  /** A failure of this reason. */
  public ToolCallStatusRefusedException(String message, Failure failure) {
    super(message, failure);
  }

  /** The status that it has, such as {@code "RUNNING"}. */
  public String status() {
    return metadata().getOrDefault("status", "");
  }
}
