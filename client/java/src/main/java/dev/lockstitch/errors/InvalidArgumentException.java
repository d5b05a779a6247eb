package dev.lockstitch.errors;

import io.grpc.Status.Code;

/**
 * The request can't be answered, whatever the state. Thrown by this client too, before anything is
 * sent.
 */
public class InvalidArgumentException extends LockstitchException {

  private static final long serialVersionUID = 1;

  /** A failure of this code. */
  public InvalidArgumentException(String message, Failure failure) {
    super(Code.INVALID_ARGUMENT, message, failure);
  }
}
