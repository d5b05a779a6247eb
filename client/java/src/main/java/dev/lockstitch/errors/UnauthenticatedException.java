package dev.lockstitch.errors;

import io.grpc.Status.Code;

/** The server does not know who calls. */
public class UnauthenticatedException extends LockstitchException {

  private static final long serialVersionUID = 1;

  /** A failure of this code. */
  public UnauthenticatedException(String message, Failure failure) {
    super(Code.UNAUTHENTICATED, message, failure);
  }
}
