package dev.lockstitch.errors;

/** A version was asked for that lies ahead of the session. */
public final class CursorAheadException extends OutOfRangeException {

  private static final long serialVersionUID = 1;

  /** A failure of this reason. */
  public CursorAheadException(String message, Failure failure) {
    super(message, failure);
  }
}
