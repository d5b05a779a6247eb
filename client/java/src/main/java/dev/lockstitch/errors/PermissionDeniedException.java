package dev.lockstitch.errors;

import io.grpc.Status.Code;

/** The caller may not do this. */
public class PermissionDeniedException extends LockstitchException {

  private static final long serialVersionUID = 1;

  /** A failure of this code. */
  public PermissionDeniedException(String message, Failure failure) {
    super(Code.PERMISSION_DENIED, message, failure);
  }
}
