package dev.lockstitch.errors;

/** The request_id was used for other content or another method. */
public final class RequestIdReusedException extends FailedPreconditionException {

  private static final long serialVersionUID = 1;

  /** A failure of this reason. */
  public RequestIdReusedException(String message, Failure failure) {
    super(message, failure);
  }
}
