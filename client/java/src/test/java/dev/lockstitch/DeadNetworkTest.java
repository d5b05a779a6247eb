package dev.lockstitch;

import static dev.lockstitch.Messages.user;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.lockstitch.v1.AppendRequest;
import dev.lockstitch.v1.CreateSessionRequest;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** A network that dies without a word. */
class DeadNetworkTest {

  /** More than it takes; without a new connection it would be no less in vain. */
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  @Test
  void aCallThatWaitsOnADeadConnectionIsMadeAgainOnANewOne() throws Exception {
    Testbed testbed = Testbed.start();
    String token = testbed.token("java-" + UUID.randomUUID());
    try (Client client = Testbed.client(testbed.target("proxy_target"), token)) {
      String session =
          client.create(CreateSessionRequest.newBuilder().setUserId("u1").build()).sessionId();
      testbed.send("freeze");
      AppendRequest append =
          AppendRequest.newBuilder().addMessages(user("Is anybody there?")).build();
      assertEquals(2, client.withTimeout(PATIENCE).session(session).append(append).getVersion());
    } finally {
      testbed.stop();
    }
  }
}
