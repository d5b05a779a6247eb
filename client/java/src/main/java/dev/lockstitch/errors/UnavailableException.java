package dev.lockstitch.errors;

import io.grpc.Status.Code;

/**
 * No server could answer in the time that the call had. It was retried with the same request_id
 * until then.
 */
public class UnavailableException extends LockstitchException {

  private static final long serialVersionUID = 1;

  /** A failure of this code. */
  public UnavailableException(String message, Failure failure) {
    super(Code.UNAVAILABLE, message, failure);
  }
}
