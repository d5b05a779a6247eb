package dev.lockstitch.errors;

/**
 * The connection was lost around the commit. The same request_id, sent again, tells; nothing is
 * made twice.
 */
public final class CommitOutcomeUnknownException extends UnavailableException {

  private static final long serialVersionUID = 1;

  /** A failure of this reason. */
  public CommitOutcomeUnknownException(String message, Failure failure) {
    super(message, failure);
  }
}
