package dev.lockstitch.errors;

/** The server is going away: another one answers. */
public final class DrainingException extends UnavailableException {

  private static final long serialVersionUID = 1;

  /** A failure of this reason. */
  public DrainingException(String message, Failure failure) {
    super(message, failure);
  }
}
