package dev.lockstitch.errors;

import io.grpc.Status.Code;

/** The id that the caller chose is taken. */
public class AlreadyExistsException extends LockstitchException {

  private static final long serialVersionUID = 1;

  /** A failure of this code. */
  public AlreadyExistsException(String message, Failure failure) {
    super(Code.ALREADY_EXISTS, message, failure);
  }
}
