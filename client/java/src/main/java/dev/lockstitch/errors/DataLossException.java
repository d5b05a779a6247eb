package dev.lockstitch.errors;

import io.grpc.Status.Code;

/** The server found its data damaged. */
public class DataLossException extends LockstitchException {

  private static final long serialVersionUID = 1;

  /** A failure of this code. */
  public DataLossException(String message, Failure failure) {
    super(Code.DATA_LOSS, message, failure);
  }
}
