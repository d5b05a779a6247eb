package dev.lockstitch.errors;

import io.grpc.Status.Code;

/** Something is used up, for now or for good. */
public class ResourceExhaustedException extends LockstitchException {

  private static final long serialVersionUID = 1;

  /** A failure of this code. */
  public ResourceExhaustedException(String message, Failure failure) {
    super(Code.RESOURCE_EXHAUSTED, message, failure);
  }
}
