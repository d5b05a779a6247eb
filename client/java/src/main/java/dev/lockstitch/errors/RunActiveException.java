package dev.lockstitch.errors;

/** A run is active on the session: wait for its end, join it, interrupt it, or cancel it. */
public final class RunActiveException extends FailedPreconditionException {

  private static final long serialVersionUID = 1;

  /** A failure of this reason. */
  public RunActiveException(String message, Failure failure) {
    super(message, failure);
  }

  /** Which run. */
  public String runId() {
    return metadata().getOrDefault("run_id", "");
  }
}
