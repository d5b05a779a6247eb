package dev.lockstitch;

import static dev.lockstitch.Messages.assistant;
import static dev.lockstitch.Messages.call;
import static dev.lockstitch.Messages.text;
import static dev.lockstitch.Messages.user;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.protobuf.Message;
import dev.lockstitch.errors.InvalidFieldException;
import dev.lockstitch.v1.AppendRequest;
import dev.lockstitch.v1.CreateIfMissing;
import dev.lockstitch.v1.CreateSessionRequest;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What can't be sent as it is. */
class WireTest {

  private static final String HALF = "\ud83d";

  static Stream<Arguments> halves() {
    AppendRequest.Builder append = AppendRequest.newBuilder();
    return Stream.of(
        Arguments.of("session_id", append.clone().setSessionId(HALF).build()),
        Arguments.of(
            "messages[1].parts[0].text",
            append.clone().addMessages(user("fine")).addMessages(user(HALF)).build()),
        Arguments.of(
            "messages[0].parts[1].tool_call.name",
            append.clone().addMessages(assistant("", call("c", HALF, "{}"))).build()),
        Arguments.of(
            "create_if_missing.user_id",
            append
                .clone()
                .setCreateIfMissing(CreateIfMissing.newBuilder().setUserId(HALF))
                .build()),
        Arguments.of(
            "labels.value", CreateSessionRequest.newBuilder().putLabels("k", HALF).build()));
  }

  @ParameterizedTest
  @MethodSource("halves")
  void halfOfASurrogatePairIsFoundSinceTheCodecWouldReplaceItWithoutAWord(
      String field, Message request) {
    var error = assertThrows(InvalidFieldException.class, () -> Wire.refuseLoneSurrogates(request));
    assertEquals(field, error.fieldViolations().get(0).field());
  }

  @Test
  void emojiAreSent() {
    Wire.refuseLoneSurrogates(
        AppendRequest.newBuilder().addMessages(user(java.util.List.of(text("👩🏽‍🚀")))).build());
  }

  @Test
  void aTokenThatNoHeaderCanCarryIsRefused() {
    try (Client client = Client.connect("127.0.0.1:1", "é")) {
      assertThrows(InvalidFieldException.class, client::serverInfo);
    }
  }
}
