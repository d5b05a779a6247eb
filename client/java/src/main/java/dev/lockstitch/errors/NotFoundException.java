package dev.lockstitch.errors;

import io.grpc.Status.Code;

/** There is no such thing for this caller. */
public class NotFoundException extends LockstitchException {

  private static final long serialVersionUID = 1;

  /** A failure of this code. */
  public NotFoundException(String message, Failure failure) {
    super(Code.NOT_FOUND, message, failure);
  }
}
