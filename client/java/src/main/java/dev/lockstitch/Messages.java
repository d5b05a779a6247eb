package dev.lockstitch;

import com.google.protobuf.ByteString;
import dev.lockstitch.v1.Blob;
import dev.lockstitch.v1.Message;
import dev.lockstitch.v1.Part;
import dev.lockstitch.v1.Role;
import dev.lockstitch.v1.ToolCallPart;
import dev.lockstitch.v1.ToolResultPart;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Makers of messages: short names for what a conversation is made of.
 *
 * <pre>{@code
 * session.append(
 *     user("What is the weather in Oslo?"),
 *     assistant(List.of(), call("c1", "weather", "{\"city\": \"Oslo\"}")),
 *     tool("c1", "{\"degrees\": 4}"),
 *     assistant("It is 4 degrees."));
 * }</pre>
 *
 * <p>Each gives a plain message of the wire: {@code
 * user("hello").toBuilder().setAuthor("Ada").build()} says more. JSON is text, sent and given back
 * byte for byte.
 */
public final class Messages {

  private Messages() {}

  /** What the person said. */
  public static Message user(String text) {
    return user(List.of(text(text)));
  }

  /** What the person said, in pieces. */
  public static Message user(List<Part> parts) {
    return message(Role.ROLE_USER, parts);
  }

  /**
   * What the model said. The empty text is a value; no content at all is an empty list of parts.
   */
  public static Message assistant(String text, ToolCallPart... calls) {
    return assistant(List.of(text(text)), calls);
  }

  /** What the model said, in pieces, and the tools it asks for. */
  public static Message assistant(List<Part> parts, ToolCallPart... calls) {
    List<Part> all = new ArrayList<>(parts);
    Arrays.stream(calls).forEach(call -> all.add(Part.newBuilder().setToolCall(call).build()));
    return message(Role.ROLE_ASSISTANT, all);
  }

  /** A tool call, for {@link #assistant}. The arguments are the provider's JSON text. */
  public static ToolCallPart call(String callId, String name, String argumentsJson) {
    return ToolCallPart.newBuilder()
        .setCallId(callId)
        .setName(name)
        .setArgumentsJson(argumentsJson)
        .build();
  }

  /** What a tool gave back, as JSON text. It ends its call in the ledger. */
  public static Message tool(String callId, String resultJson) {
    return tool(ToolResultPart.newBuilder().setCallId(callId).setJson(resultJson).build());
  }

  /** What a tool gave back: JSON, text, nothing or an error. */
  public static Message tool(ToolResultPart result) {
    Part part = Part.newBuilder().setToolResult(result).build();
    return message(Role.ROLE_TOOL, List.of(part)).toBuilder().setCallId(result.getCallId()).build();
  }

  /** Instructions of the application to the model. */
  public static Message system(String text) {
    return message(Role.ROLE_SYSTEM, List.of(text(text)));
  }

  /** Instructions of the developer, for models that tell them from the system's. */
  public static Message developer(String text) {
    return message(Role.ROLE_DEVELOPER, List.of(text(text)));
  }

  /** A piece of text. */
  public static Part text(String text) {
    return Part.newBuilder().setText(text).build();
  }

  /** A piece of JSON, as text. */
  public static Part json(String json) {
    return Part.newBuilder().setJson(json).build();
  }

  /** The model's reasoning; it stands before the content. */
  public static Part reasoning(String text) {
    return Part.newBuilder().setReasoning(text).build();
  }

  /** Bytes, which count towards the request's 3 MiB. */
  public static Part blob(String mimeType, byte[] data) {
    return blob(Blob.newBuilder().setMimeType(mimeType).setData(ByteString.copyFrom(data)));
  }

  /** Where bytes lie, which the server never fetches. */
  public static Part blobAt(String mimeType, String uri) {
    return blob(Blob.newBuilder().setMimeType(mimeType).setUri(uri));
  }

  private static Part blob(Blob.Builder blob) {
    return Part.newBuilder().setBlob(blob).build();
  }

  private static Message message(Role role, List<Part> parts) {
    return Message.newBuilder().setRole(role).addAllParts(parts).build();
  }
}
