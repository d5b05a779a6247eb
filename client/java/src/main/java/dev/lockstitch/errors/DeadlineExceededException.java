package dev.lockstitch.errors;

import io.grpc.Status.Code;

/**
 * No answer came within the call's time. A change may have been made: its request_id tells, sent
 * again.
 */
public class DeadlineExceededException extends LockstitchException {

  private static final long serialVersionUID = 1;

  /** A failure of this code. */
  public DeadlineExceededException(String message, Failure failure) {
    super(Code.DEADLINE_EXCEEDED, message, failure);
  }
}
