package dev.lockstitch.errors;

/** The store was restored from a backup since: read the session anew. */
public final class StoreRestoredException extends OutOfRangeException {

  private static final long serialVersionUID = 1;

  /** A failure of this reason. */
  public StoreRestoredException(String message, Failure failure) {
    super(message, failure);
  }
}
