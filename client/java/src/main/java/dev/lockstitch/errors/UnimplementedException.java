package dev.lockstitch.errors;

import io.grpc.Status.Code;

/** The server is older than this client, or is not a lockstitch server. */
public class UnimplementedException extends LockstitchException {

  private static final long serialVersionUID = 1;

  /** A failure of this code. */
  public UnimplementedException(String message, Failure failure) {
    super(Code.UNIMPLEMENTED, message, failure);
  }
}
