package dev.lockstitch.errors;

import io.grpc.Status.Code;

/** The state does not allow it. The same call may succeed after another one. */
public class FailedPreconditionException extends LockstitchException {

  private static final long serialVersionUID = 1;

  /** A failure of this code. */
  public FailedPreconditionException(String message, Failure failure) {
    super(Code.FAILED_PRECONDITION, message, failure);
  }
}
