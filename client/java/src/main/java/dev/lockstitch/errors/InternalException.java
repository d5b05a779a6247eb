package dev.lockstitch.errors;

import io.grpc.Status.Code;

/** A bug of the server. */
public class InternalException extends LockstitchException {

  private static final long serialVersionUID = 1;

  /** A failure of this code. */
  public InternalException(String message, Failure failure) {
    super(Code.INTERNAL, message, failure);
  }

  /** Under which the server's log has the cause; empty where it did not say. */
  public String incidentId() {
    return metadata().getOrDefault("incident_id", "");
  }
}
