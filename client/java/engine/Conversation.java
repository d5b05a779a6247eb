package dev.lockstitch.engine;

import static dev.lockstitch.Messages.assistant;
import static dev.lockstitch.Messages.call;
import static dev.lockstitch.Messages.text;
import static dev.lockstitch.Messages.tool;
import static dev.lockstitch.Messages.user;

import dev.lockstitch.v1.Message;
import dev.lockstitch.v1.Role;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** What each turn of the five engines' conversation leaves; client/README.md has the table. */
final class Conversation {

  /** More than a double holds. */
  static final String BIG = "9007199254740993123";

  private Conversation() {}

  /** Compares what was read with what it must be. */
  static void same(String what, Object read, Object left) {
    if (!read.equals(left)) {
      throw new IllegalStateException(what + ": " + read + " is not " + left);
    }
  }

  /** The arguments of a turn's tool call. */
  static String argumentsOf(int turn) {
    return "{\"turn\":" + turn + ",\"big\":" + BIG + ",\"nothing\":\"\\u0000\",\"e\":1e3}";
  }

  /** What a turn adds. */
  static List<Message> messagesOf(int turn, String language) {
    List<Message> messages = new ArrayList<>();
    if (turn > 1) {
      messages.add(
          tool(
              "call-" + (turn - 1),
              "{\"of\":" + (turn - 1) + ",\"least\":" + Long.MIN_VALUE + "}"));
    }
    messages.add(user("Turn " + turn + ": what now?"));
    messages.add(
        assistant(
                List.of(text("👩🏽‍🚀 turn " + turn), text("")),
                call("call-" + turn, "count", argumentsOf(turn)))
            .toBuilder()
            .setAuthor(language)
            .build());
    return messages;
  }

  /** Compares messages with what so many turns left, and gives the languages that took them. */
  static List<String> checkMessages(List<Message> messages, int turns) {
    same(
        "the messages' seqs",
        messages.stream().map(Message::getSeq).toList(),
        LongStream.rangeClosed(1, Math.max(3L * turns - 1, 0)).boxed().toList());
    List<String> languages =
        messages.stream()
            .filter(message -> message.getRole() == Role.ROLE_ASSISTANT)
            .map(Message::getAuthor)
            .toList();
    same("how many turns were taken", languages.size(), turns);
    List<Message> left = new ArrayList<>();
    for (int turn = 1; turn <= turns; turn++) {
      left.addAll(messagesOf(turn, languages.get(turn - 1)));
    }
    same("the messages", messages.stream().map(Conversation::asSent).toList(), left);
    return languages;
  }

  /** What memory says of the turns that these languages took. */
  static List<String> completedBy(List<String> languages) {
    return IntStream.range(0, languages.size())
        .mapToObj(at -> "turn " + (at + 1) + " by " + languages.get(at))
        .toList();
  }

  /** A message without what the server adds. */
  private static Message asSent(Message message) {
    return Message.newBuilder()
        .setRole(message.getRole())
        .setAuthor(message.getAuthor())
        .setCallId(message.getCallId())
        .addAllParts(message.getPartsList())
        .build();
  }
}
