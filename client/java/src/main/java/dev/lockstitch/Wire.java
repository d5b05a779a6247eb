package dev.lockstitch;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Duration;
import com.google.protobuf.Message;
import dev.lockstitch.errors.Failure;
import dev.lockstitch.errors.InvalidFieldException;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** Java values as the wire wants them, and clear words where they can't be. */
final class Wire {

  private Wire() {}

  static java.time.Duration duration(Duration told) {
    return java.time.Duration.ofSeconds(told.getSeconds(), told.getNanos());
  }

  static Duration duration(java.time.Duration given) {
    return Duration.newBuilder().setSeconds(given.getSeconds()).setNanos(given.getNano()).build();
  }

  /** The error of a field that can't be sent, shaped like the server's own. */
  static InvalidFieldException refused(String field, String description) {
    return new InvalidFieldException(
        field + ": " + description + ".", Failure.ofField(field, description));
  }

  /**
   * Refuses a message that holds half of a surrogate pair, which UTF-8 has no form for: the codec
   * would write "?" in its place.
   */
  static void refuseLoneSurrogates(Message message) {
    refuseLoneSurrogates(message, "");
  }

  /** The same message with a field set, where it has such a field. */
  static <M extends Message> M with(M message, String field, Object value) {
    FieldDescriptor found = message.getDescriptorForType().findFieldByName(field);
    return found == null ? message : built(message.toBuilder().setField(found, value), message);
  }

  /** What a builder makes that came from such a message. */
  @SuppressWarnings("unchecked") // a message's own builder makes its own kind
  static <M extends Message> M built(Message.Builder builder, M like) {
    return (M) builder.build();
  }

  private static void refuseLoneSurrogates(Message message, String within) {
    for (Map.Entry<FieldDescriptor, Object> entry : message.getAllFields().entrySet()) {
      String name = within + entry.getKey().getName();
      if (entry.getKey().isMapField()) {
        for (Object one : (List<?>) entry.getValue()) {
          refuse(one, name);
        }
      } else if (entry.getKey().isRepeated()) {
        List<?> items = (List<?>) entry.getValue();
        for (int at = 0; at < items.size(); at++) {
          refuse(items.get(at), name + "[" + at + "]");
        }
      } else {
        refuse(entry.getValue(), name);
      }
    }
  }

  private static void refuse(Object value, String name) {
    if (value instanceof Message inner) {
      refuseLoneSurrogates(inner, name + ".");
    } else if (value instanceof String text && !isWellFormed(text)) {
      throw refused(name, "holds a lone surrogate, which can't be sent as UTF-8");
    }
  }

  private static boolean isWellFormed(String text) {
    if (text.chars().noneMatch(one -> Character.isSurrogate((char) one))) {
      return true;
    }
    try {
      StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
      return true;
    } catch (CharacterCodingException halfAPair) {
      return false;
    }
  }
}
