package dev.lockstitch.errors;

/**
 * The server is of the major version {@code before} of the metadata or later, whose wire may be
 * another one.
 */
public final class ServerTooNewException extends UnimplementedException {

  private static final long serialVersionUID = 1;

  /** A failure of this reason. */
  public ServerTooNewException(String message, Failure failure) {
    super(message, failure);
  }

  /** The server's version. */
  public String serverVersion() {
    return metadata().getOrDefault("server_version", "");
  }
}
