package dev.lockstitch;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;

/** The values and patterns of the test vectors, as client/testdata/README.md has them. */
final class Patterns {

  private static final Set<String> DEFAULTS =
      Set.of("null", "0", "\"0\"", "\"\"", "false", "[]", "{}");

  private Patterns() {}

  /** A value with what was saved, and long texts, filled in. */
  static JsonElement filled(JsonElement value, Map<String, JsonElement> saved) {
    if (value instanceof JsonArray items) {
      JsonArray all = new JsonArray();
      items.forEach(item -> all.add(filled(item, saved)));
      return all;
    }
    if (!(value instanceof JsonObject object)) {
      return value;
    }
    if (object.has("$saved")) {
      return saved.get(object.get("$saved").getAsString());
    }
    if (object.has("$text")) {
      int times = object.get("times").getAsInt();
      return new JsonPrimitive(object.get("$text").getAsString().repeat(times));
    }
    JsonObject all = new JsonObject();
    object.entrySet().forEach(entry -> all.add(entry.getKey(), filled(entry.getValue(), saved)));
    return all;
  }

  /** Where a value (null where it is absent) is not as a pattern says; empty where it is. */
  static String mismatch(JsonElement pattern, JsonElement value, String at) {
    if (pattern instanceof JsonObject object) {
      if (object.keySet().stream().anyMatch(key -> key.startsWith("$"))) {
        return is(object, value) ? "" : at + ": " + shortened(value) + " is not " + pattern;
      }
      if (object.size() > 0) {
        return ofObject(object, value instanceof JsonObject inner ? inner : new JsonObject(), at);
      }
    }
    if (pattern instanceof JsonArray items && items.size() > 0) {
      return ofList(items, value, at);
    }
    boolean isSame = isDefault(pattern) ? isDefault(value) : pattern.equals(value);
    return isSame ? "" : at + ": " + shortened(value) + " is not " + shortened(pattern);
  }

  /** What stands at a path such as {@code messages.0.seq}. */
  static JsonElement at(JsonElement value, String path) {
    JsonElement inner = value;
    for (String step : path.split("\\.")) {
      inner =
          inner instanceof JsonArray items
              ? items.get(Integer.parseInt(step))
              : inner.getAsJsonObject().get(step);
    }
    return inner;
  }

  private static String ofObject(JsonObject pattern, JsonObject value, String at) {
    return pattern.entrySet().stream()
        .map(
            entry ->
                mismatch(entry.getValue(), value.get(entry.getKey()), at + "." + entry.getKey()))
        .filter(found -> !found.isEmpty())
        .findFirst()
        .orElse("");
  }

  private static String ofList(JsonArray pattern, JsonElement value, String at) {
    if (!(value instanceof JsonArray items) || items.size() != pattern.size()) {
      return at + ": " + shortened(value) + " is not a list of " + pattern.size();
    }
    for (int place = 0; place < pattern.size(); place++) {
      String found = mismatch(pattern.get(place), items.get(place), at + "[" + place + "]");
      if (!found.isEmpty()) {
        return found;
      }
    }
    return "";
  }

  private static boolean is(JsonObject pattern, JsonElement value) {
    if (pattern.has("$exactly")) {
      return pattern.get("$exactly").equals(value);
    }
    if (pattern.has("$any")) {
      return !isDefault(value);
    }
    if (pattern.has("$length")) {
      return pattern.get("$length").getAsInt() == length(value);
    }
    double number = value == null ? 0 : value.getAsDouble();
    return (!pattern.has("$at_least") || number >= pattern.get("$at_least").getAsDouble())
        && (!pattern.has("$at_most") || number <= pattern.get("$at_most").getAsDouble());
  }

  private static int length(JsonElement value) {
    if (value == null) {
      return 0;
    }
    return value instanceof JsonArray items
        ? items.size()
        : value.getAsString().getBytes(StandardCharsets.UTF_8).length;
  }

  private static boolean isDefault(JsonElement value) {
    return value == null || DEFAULTS.contains(value.toString());
  }

  private static String shortened(JsonElement value) {
    String text = String.valueOf(value);
    return text.length() > 300 ? text.substring(0, 300) + "…" : text;
  }
}
