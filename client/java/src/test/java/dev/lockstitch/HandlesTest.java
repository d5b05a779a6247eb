package dev.lockstitch;

import static dev.lockstitch.Messages.user;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import dev.lockstitch.errors.CancelledException;
import dev.lockstitch.errors.InvalidFieldException;
import dev.lockstitch.errors.SessionClosedException;
import dev.lockstitch.errors.VersionConflictException;
import dev.lockstitch.v1.AppendRequest;
import dev.lockstitch.v1.CloseSessionRequest;
import dev.lockstitch.v1.Commit;
import dev.lockstitch.v1.CreateSessionRequest;
import dev.lockstitch.v1.ForkSessionRequest;
import dev.lockstitch.v1.GetSessionRequest;
import dev.lockstitch.v1.ListMemoryVersionsRequest;
import dev.lockstitch.v1.ListMessagesRequest;
import dev.lockstitch.v1.ListSessionsRequest;
import dev.lockstitch.v1.Message;
import dev.lockstitch.v1.RestoreSessionRequest;
import dev.lockstitch.v1.SessionServiceGrpc;
import dev.lockstitch.v1.SubscribeRequest;
import dev.lockstitch.v1.UpdateMemoryRequest;
import dev.lockstitch.v1.UpdateSessionRequest;
import dev.lockstitch.v1.WorkingMemory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Handles of sessions against a real server: what the vectors, which call the wire's methods, do
 * not see.
 */
class HandlesTest {

  private static Testbed testbed;
  private static String token;
  private static Client client;

  @BeforeAll
  static void start() throws Exception {
    testbed = Testbed.start();
    token = testbed.token("java-" + UUID.randomUUID());
    client = Testbed.client(testbed.target("target"), token);
  }

  @AfterAll
  static void stop() throws Exception {
    client.close();
    testbed.stop();
  }

  private static SessionHandle created() {
    return client.create(CreateSessionRequest.newBuilder().setUserId("u1").build());
  }

  private static AppendRequest guarded(String text, long version) {
    return AppendRequest.newBuilder().addMessages(user(text)).setExpectedVersion(version).build();
  }

  @Test
  void aVersionMovesWithWhatWasReadAndMadeHereAndNotOverSomebodyElsesCommit() {
    SessionHandle session = created();
    session.append(user("mine"));
    assertEquals(2, session.version());

    client.session(session.sessionId()).append(user("another's"));
    assertEquals(4, session.append(user("mine again")).getVersion());
    assertEquals(2, session.version());
    var conflict =
        assertThrows(
            VersionConflictException.class,
            () -> session.append(guarded("late", session.version())));
    assertEquals(
        List.of(2L, 4L, 3L),
        List.of(conflict.expectedVersion(), conflict.currentVersion(), conflict.lastSeq()));
    assertFalse(conflict.requestId().isEmpty());

    session.get();
    assertEquals(5, session.append(guarded("in time", session.version())).getVersion());
    assertEquals(5, session.receipt().orElseThrow().getVersion());
  }

  @Test
  void theMemorysVersionGuardsWhatWasComputedFromIt() {
    SessionHandle session = created();
    session.updateMemory(
        Memory.mergePatch("{\"goal\":\"Ship it\",\"retries\":7203685477580123457}"));
    WorkingMemory rest = WorkingMemory.newBuilder().setGoal("Rest").build();
    UpdateMemoryRequest request =
        UpdateMemoryRequest.newBuilder()
            .setChange(Memory.replace(rest))
            .setExpectedMemoryVersion(session.memoryVersion())
            .build();
    assertEquals("Rest", session.updateMemory(request).getMemory().getGoal());
    assertEquals(3, session.memoryVersion());
    assertThrows(VersionConflictException.class, () -> session.updateMemory(request));

    List<String> extras = new ArrayList<>();
    session
        .memoryVersions(ListMemoryVersionsRequest.newBuilder().setPageSize(1).build())
        .forEach(memory -> extras.add(memory.getExtraJson()));
    assertEquals(List.of("", "{\"retries\":7203685477580123457}"), extras);
  }

  @Test
  void fieldsOfMemoryAreSetByName() {
    SessionHandle session = created();
    WorkingMemory next =
        WorkingMemory.newBuilder().setNextAction("sleep").setGoal("unseen").build();
    UpdateMemoryRequest.Builder request =
        UpdateMemoryRequest.newBuilder().setChange(Memory.setFields(next, "next_action"));
    session.updateMemory(request.setExpectedMemoryVersion(0).build());
    WorkingMemory memory = session.memory();
    assertEquals("sleep", memory.getNextAction());
    assertFalse(memory.hasGoal());
  }

  @Test
  void listsGoOnOverPagesAndBeginAnew() {
    SessionHandle session = created();
    for (int number = 0; number < 5; number++) {
      session.append(user("" + number));
    }
    Iterable<Message> messages =
        session.messages(ListMessagesRequest.newBuilder().setPageSize(2).build());
    for (int time = 0; time < 2; time++) {
      List<Long> seqs = new ArrayList<>();
      messages.forEach(message -> seqs.add(message.getSeq()));
      assertEquals(List.of(1L, 2L, 3L, 4L, 5L), seqs);
    }
    List<String> ids = new ArrayList<>();
    client
        .list(ListSessionsRequest.newBuilder().setUserId("u1").setPageSize(1).build())
        .forEach(one -> ids.add(one.getSessionId()));
    assertTrue(ids.contains(session.sessionId()));
  }

  @Test
  void aSessionIsClosedRestoredChangedAndForked() {
    SessionHandle session = created();
    session.close(CloseSessionRequest.newBuilder().setReason("resolved").build());
    assertThrows(SessionClosedException.class, () -> session.append(user("late")));
    session.restore(RestoreSessionRequest.getDefaultInstance());
    UpdateSessionRequest.Builder change = UpdateSessionRequest.newBuilder();
    change.getSessionBuilder().setTitle("Trip to Oslo");
    change.getUpdateMaskBuilder().addPaths("title");
    session.update(change.build());
    SessionHandle fork = session.fork(ForkSessionRequest.getDefaultInstance());
    assertEquals("Trip to Oslo", session.info().orElseThrow().getTitle());
    assertEquals(session.sessionId(), fork.info().orElseThrow().getForkedFrom().getSessionId());
    assertEquals(1, fork.version());
  }

  @Test
  void aRequestThatCannotBeWrittenIsRefusedBeforeItIsSent() {
    SessionHandle session = created();
    assertThrows(InvalidFieldException.class, () -> session.append(user("\ud800")));
    assertEquals(1, session.get().getSession().getVersion());
  }

  @Test
  void aTokenIsAskedForBeforeEveryAttempt() throws Exception {
    AtomicInteger asked = new AtomicInteger();
    JsonObject twice = new JsonObject();
    twice.addProperty("method", "ListSessions");
    twice.addProperty("times", 2);
    testbed.send("fail_next", twice);
    try (Client fresh =
        Client.builder(testbed.target("between_target"))
            .token(
                () -> {
                  asked.incrementAndGet();
                  return token;
                })
            .timeout(Duration.ofSeconds(60))
            .build()) {
      fresh.list(ListSessionsRequest.getDefaultInstance()).iterator().hasNext();
    }
    assertEquals(3, asked.get());
  }

  @Test
  void aCallIsGivenUpByItsThreadsInterruptAndByTheClientsEnd() throws Exception {
    Client away = Testbed.client(testbed.target("proxy_target"), token);
    testbed.send("stall");
    try {
      CompletableFuture<Boolean> staysInterrupted = new CompletableFuture<>();
      Thread caller =
          new Thread(
              () -> {
                assertThrows(CancelledException.class, away::serverInfo);
                staysInterrupted.complete(Thread.currentThread().isInterrupted());
              });
      caller.start();
      caller.interrupt();
      assertTrue(staysInterrupted.get());

      CompletableFuture<?> waiting = CompletableFuture.supplyAsync(away::serverInfo);
      away.close();
      var failed = assertThrows(CompletionException.class, waiting::join);
      assertTrue(failed.getCause() instanceof CancelledException, failed::toString);
      assertThrows(CancelledException.class, away::serverInfo);
    } finally {
      testbed.send("restore");
    }
  }

  @Test
  void aSubscriptionGoesOnBehindWhatItsHandleHasSeen() {
    SessionHandle session = created();
    client.session(session.sessionId()).append(user("missed"));
    try (Subscription<Commit> commits = session.subscribe()) {
      assertEquals(2, commits.next().getVersion());
    }
    assertEquals(2, session.version());
    assertEquals(3, session.append(guarded("next", session.version())).getVersion());
  }

  @Test
  void aSubscriptionIsClosedFromAnotherThreadWhileItWaits() throws Exception {
    SessionHandle session = created();
    var frames = session.frames(SubscribeRequest.newBuilder().setAfterVersion(1).build());
    assertTrue(frames.next().hasOpened());
    assertTrue(frames.next().hasCaughtUp());
    CompletableFuture<Boolean> more = CompletableFuture.supplyAsync(frames::hasNext);
    frames.close();
    assertFalse(more.get());
  }

  @Test
  void aSubscriptionEndsWithItsThreadsInterruptAndWithTheClient() throws Exception {
    SessionHandle session = created();
    CountDownLatch isWaiting = new CountDownLatch(1);
    CompletableFuture<Boolean> staysInterrupted = new CompletableFuture<>();
    Thread reader =
        new Thread(
            () -> {
              try (Subscription<Commit> commits = session.subscribe(0)) {
                commits.next();
                isWaiting.countDown();
                assertThrows(CancelledException.class, commits::hasNext);
                staysInterrupted.complete(Thread.currentThread().isInterrupted());
              }
            });
    reader.start();
    isWaiting.await();
    reader.interrupt();
    assertTrue(staysInterrupted.get());

    Client other = Testbed.client(testbed.target("target"), token);
    Subscription<Commit> commits = other.session(session.sessionId()).subscribe(0);
    commits.next();
    CompletableFuture<Boolean> more = CompletableFuture.supplyAsync(commits::hasNext);
    other.close();
    var failed = assertThrows(CompletionException.class, more::join);
    assertTrue(failed.getCause() instanceof CancelledException, failed::toString);
  }

  @Test
  void aStubOfOnesOwnHasTheToken() {
    SessionHandle session = created();
    var stub = SessionServiceGrpc.newBlockingStub(client.channel());
    GetSessionRequest request =
        GetSessionRequest.newBuilder().setSessionId(session.sessionId()).build();
    assertEquals(session.sessionId(), stub.getSession(request).getSession().getSessionId());
  }
}
