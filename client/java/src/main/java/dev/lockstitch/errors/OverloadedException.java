package dev.lockstitch.errors;

/** The server had no time for the call. Nothing was done. */
public final class OverloadedException extends UnavailableException {

  private static final long serialVersionUID = 1;

  /** A failure of this reason. */
  public OverloadedException(String message, Failure failure) {
    super(message, failure);
  }
}
