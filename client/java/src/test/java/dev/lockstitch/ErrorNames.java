package dev.lockstitch;

import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * What the class of an error is called, made from its reason or code by rule, and so told apart
 * from the client's own table.
 */
final class ErrorNames {

  private static final Map<String, String> IRREGULAR =
      Map.of("ABORTED", "Conflict", "TOOL_CALL_STATUS", "ToolCallStatusRefused");

  private ErrorNames() {}

  /** The class of a reason, or of the code where there is no class of such a reason. */
  static String of(String code, String reason) {
    String ofReason = named(reason);
    return !reason.isEmpty() && exists(ofReason) ? ofReason : named(code);
  }

  private static String named(String name) {
    String regular =
        Arrays.stream(name.split("_"))
            .filter(word -> !word.isEmpty())
            .map(word -> word.charAt(0) + word.substring(1).toLowerCase(Locale.ROOT))
            .collect(Collectors.joining());
    return IRREGULAR.getOrDefault(name, regular) + "Exception";
  }

  private static boolean exists(String name) {
    try {
      Class.forName("dev.lockstitch.errors." + name);
      return true;
    } catch (ClassNotFoundException unknown) {
      return false;
    }
  }
}
