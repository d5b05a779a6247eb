package dev.lockstitch.errors;

/**
 * The session (or its memory) is not at the version that was expected. Read what was missed, then
 * decide.
 */
public final class VersionConflictException extends ConflictException {

  private static final long serialVersionUID = 1;

  /** A failure of this reason. */
  public VersionConflictException(String message, Failure failure) {
    super(message, failure);
  }

  /** The version that the request expected. */
  public long expectedVersion() {
    return number("expected_version");
  }

  /** The session's version now. */
  public long currentVersion() {
    return number("current_version");
  }

  /** The version of the commit that last changed the memory. */
  public long memoryVersion() {
    return number("memory_version");
  }

  /** The seq of the newest message: what came after the last one you know is what you missed. */
  public long lastSeq() {
    return number("last_seq");
  }
}
