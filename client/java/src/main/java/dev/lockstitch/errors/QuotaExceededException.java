package dev.lockstitch.errors;

/** The tenant or the user has as many sessions as it may. */
public final class QuotaExceededException extends ResourceExhaustedException {

  private static final long serialVersionUID = 1;

  /** A failure of this reason. */
  public QuotaExceededException(String message, Failure failure) {
    super(message, failure);
  }
}
