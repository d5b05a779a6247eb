package dev.lockstitch.errors;

/** The call came without a token. */
public final class TokenMissingException extends UnauthenticatedException {

  private static final long serialVersionUID = 1;

  /** A failure of this reason. */
  public TokenMissingException(String message, Failure failure) {
    super(message, failure);
  }
}
