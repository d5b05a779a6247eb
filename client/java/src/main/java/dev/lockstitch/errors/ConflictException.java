package dev.lockstitch.errors;

import io.grpc.Status.Code;

/** Somebody else was faster. Nothing was stored. */
public class ConflictException extends LockstitchException {

  private static final long serialVersionUID = 1;

  /** A failure of this code. */
  public ConflictException(String message, Failure failure) {
    super(Code.ABORTED, message, failure);
  }
}
