package dev.lockstitch.errors;

/**
 * The token's time has passed. A client whose token is a supplier asks it for a fresh one at every
 * attempt.
 */
public final class TokenExpiredException extends UnauthenticatedException {

  private static final long serialVersionUID = 1;

  /** A failure of this reason. */
  public TokenExpiredException(String message, Failure failure) {
    super(message, failure);
  }
}
