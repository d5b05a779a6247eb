package dev.lockstitch.errors;

import io.grpc.Status.Code;

/** The position asked for lies outside what is kept. */
public class OutOfRangeException extends LockstitchException {

  private static final long serialVersionUID = 1;

  /** A failure of this code. */
  public OutOfRangeException(String message, Failure failure) {
    super(Code.OUT_OF_RANGE, message, failure);
  }
}
