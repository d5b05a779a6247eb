package dev.lockstitch.errors;

/**
 * The server is older than the metadata's {@code from}, the first that this client speaks with; or
 * says no version.
 */
public final class ServerTooOldException extends UnimplementedException {

  private static final long serialVersionUID = 1;

  /** A failure of this reason. */
  public ServerTooOldException(String message, Failure failure) {
    super(message, failure);
  }

  /** The server's version. */
  public String serverVersion() {
    return metadata().getOrDefault("server_version", "");
  }
}
