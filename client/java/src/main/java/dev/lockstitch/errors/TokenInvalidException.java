package dev.lockstitch.errors;

/** The token is malformed, forged or meant for somebody else. */
public final class TokenInvalidException extends UnauthenticatedException {

  private static final long serialVersionUID = 1;

  /** A failure of this reason. */
  public TokenInvalidException(String message, Failure failure) {
    super(message, failure);
  }
}
