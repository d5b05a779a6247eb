package dev.lockstitch.errors;

import io.grpc.Status.Code;

/** The call was given up on the way, its thread was interrupted, or the client is closed. */
public class CancelledException extends LockstitchException {

  private static final long serialVersionUID = 1;

  /** A failure of this code. */
  public CancelledException(String message, Failure failure) {
    super(Code.CANCELLED, message, failure);
  }
}
