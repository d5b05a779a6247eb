package dev.lockstitch.errors;

/** The run has ended. */
public final class RunEndedException extends FailedPreconditionException {

  private static final long serialVersionUID = 1;

  /** A failure of this reason. */
  public RunEndedException(String message, Failure failure) {
    super(message, failure);
  }

  /** Which run. */
  public String runId() {
    return metadata().getOrDefault("run_id", "");
  }
}
