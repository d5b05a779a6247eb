package dev.lockstitch.errors;

import io.grpc.Status.Code;

/** Something between client and server failed without a code of its own. */
public class UnknownException extends LockstitchException {

  private static final long serialVersionUID = 1;

  /** A failure of this code. */
  public UnknownException(String message, Failure failure) {
    super(Code.UNKNOWN, message, failure);
  }
}
