package dev.lockstitch;

import dev.lockstitch.errors.Failure;
import dev.lockstitch.errors.ServerTooNewException;
import dev.lockstitch.errors.ServerTooOldException;
import java.math.BigInteger;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Which servers this client fits: within a major version the wire only grows. */
final class Versions {

  /** The first version of a server that has what this client calls. */
  private static final String FROM = "0.1.0";

  /** The first version that may speak otherwise. */
  private static final String BEFORE = "1.0.0";

  private static final Pattern VERSION =
      Pattern.compile("([0-9]+)\\.([0-9]+)\\.([0-9]+)(?:[-+].*)?");

  private Versions() {}

  /**
   * Throws what is wrong with a server's version, if anything is. What stands behind "-" or "+"
   * does not count.
   */
  static void refuseOthers(String version) {
    Map<String, String> told = Map.of("server_version", version, "from", FROM, "before", BEFORE);
    Failure failure = new Failure("", told, List.of(), null, "", null);
    if (!isRead(version) || isBelow(version, FROM)) {
      String said = version.isEmpty() ? "of no version" : version;
      throw new ServerTooOldException(
          "The server is " + said + "; this client needs " + FROM + ".", failure);
    }
    if (!isBelow(version, BEFORE)) {
      throw new ServerTooNewException(
          "The server is " + version + "; this client knows those before " + BEFORE + ".", failure);
    }
  }

  private static boolean isRead(String version) {
    return VERSION.matcher(version).matches();
  }

  private static boolean isBelow(String version, String bound) {
    Matcher one = VERSION.matcher(version);
    Matcher other = VERSION.matcher(bound);
    if (!one.matches() || !other.matches()) {
      throw new IllegalArgumentException(version);
    }
    for (int part = 1; part <= 3; part++) {
      int order = new BigInteger(one.group(part)).compareTo(new BigInteger(other.group(part)));
      if (order != 0) {
        return order < 0;
      }
    }
    return false;
  }
}
