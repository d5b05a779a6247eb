package dev.lockstitch;

import dev.lockstitch.v1.CommitReceipt;
import dev.lockstitch.v1.Session;

/** How far somebody has seen a session: a handle, and the runs that it started. */
final class Seen {

  private long version;
  private long memoryVersion;
  private Session info;
  private CommitReceipt receipt;

  synchronized long version() {
    return version;
  }

  synchronized long memoryVersion() {
    return memoryVersion;
  }

  synchronized Session info() {
    return info;
  }

  synchronized CommitReceipt receipt() {
    return receipt;
  }

  /** Notes a version up to which all was seen. */
  synchronized void upTo(long seen) {
    version = Math.max(version, seen);
  }

  /** Notes a version of the working memory that was read or made. */
  synchronized void memoryUpTo(long seen) {
    memoryVersion = Math.max(memoryVersion, seen);
  }

  /** Notes a session as it was told. */
  synchronized void note(Session told) {
    if (info == null || told.getVersion() >= info.getVersion()) {
      info = told;
    }
  }

  /** Notes a session as read: whoever reads it has seen it up to its version. */
  synchronized void read(Session told) {
    note(told);
    upTo(told.getVersion());
  }

  /**
   * Notes a change made here. It counts as seen only where nobody else's commit can lie before it
   * unseen; {@code expected} is null where no version was expected.
   */
  synchronized void made(CommitReceipt made, Long expected, boolean isMemoryGuarded) {
    receipt = made;
    boolean follows = made.getVersion() <= (expected == null ? version : expected) + 1;
    if (follows) {
      upTo(made.getVersion());
    }
    if (made.getMemoryVersion() == made.getVersion() && (follows || isMemoryGuarded)) {
      memoryUpTo(made.getMemoryVersion());
    }
  }
}
