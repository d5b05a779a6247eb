package dev.lockstitch.errors;

/** A page token was not made by this store, or for another call. */
public final class PageTokenInvalidException extends InvalidArgumentException {

  private static final long serialVersionUID = 1;

  /** A failure of this reason. */
  public PageTokenInvalidException(String message, Failure failure) {
    super(message, failure);
  }
}
