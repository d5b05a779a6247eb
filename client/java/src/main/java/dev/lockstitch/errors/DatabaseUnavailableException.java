package dev.lockstitch.errors;

/** The server can't reach its database. Nothing was done. */
public final class DatabaseUnavailableException extends UnavailableException {

  private static final long serialVersionUID = 1;

  /** A failure of this reason. */
  public DatabaseUnavailableException(String message, Failure failure) {
    super(message, failure);
  }
}
