package dev.lockstitch.errors;

/**
 * The run is not its caller's any more: somebody took it over, interrupted it or ended it. Stop
 * acting.
 */
public final class RunFencedException extends FailedPreconditionException {

  private static final long serialVersionUID = 1;

  /** A failure of this reason. */
  public RunFencedException(String message, Failure failure) {
    super(message, failure);
  }

  /** Which run. */
  public String runId() {
    return metadata().getOrDefault("run_id", "");
  }
}
