package dev.lockstitch;

import static dev.lockstitch.Messages.user;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.lockstitch.errors.VersionConflictException;
import dev.lockstitch.v1.AppendRequest;
import dev.lockstitch.v1.Commit;
import dev.lockstitch.v1.CreateSessionRequest;
import dev.lockstitch.v1.Message;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Many threads on one session, by two servers, the network of one of which is cut meanwhile. */
class ConcurrencyTest {

  private static final int WRITERS = 8;
  private static final int APPENDS = 8;
  private static final int CUTS = 4;

  private static Testbed testbed;
  private static Client one;
  private static Client other;
  private static ExecutorService threads;

  @BeforeAll
  static void start() throws Exception {
    testbed = Testbed.start();
    String token = testbed.token("java-" + UUID.randomUUID());
    one = Testbed.client(testbed.target("proxy_target"), token);
    String second = testbed.send("second_server").get("target").getAsString();
    other = Testbed.client(second, token);
    threads = Executors.newCachedThreadPool();
  }

  @AfterAll
  static void stop() throws Exception {
    one.close();
    other.close();
    threads.shutdown();
    testbed.stop();
  }

  private static String created() {
    return one.create(CreateSessionRequest.newBuilder().setUserId("u1").build()).sessionId();
  }

  private static SessionHandle handle(int writer, String sessionId) {
    return (writer % 2 == 0 ? one : other).session(sessionId);
  }

  /** The commits up to a version, as a subscription gives them. */
  private static List<Commit> followed(Client client, String sessionId, long last) {
    List<Commit> commits = new ArrayList<>();
    try (Subscription<Commit> subscription = client.session(sessionId).subscribe(0)) {
      do {
        commits.add(subscription.next());
      } while (commits.get(commits.size() - 1).getVersion() < last);
    }
    return commits;
  }

  private static void cutAgainAndAgain() throws Exception {
    for (int cut = 0; cut < CUTS; cut++) {
      testbed.send("cut");
      one.serverInfo(); // it has connected again
    }
  }

  private static <T> List<T> all(Collection<Future<T>> running) throws Exception {
    List<T> results = new ArrayList<>();
    for (Future<T> future : running) {
      results.add(future.get(120, TimeUnit.SECONDS));
    }
    return results;
  }

  @Test
  void everyAppendIsMadeOnceAndEveryFollowerSeesTheSame() throws Exception {
    String sessionId = created();
    long last = 1 + WRITERS * APPENDS;
    List<Future<List<Commit>>> followers =
        List.of(
            threads.submit(() -> followed(one, sessionId, last)),
            threads.submit(() -> followed(other, sessionId, last)));
    List<Future<Void>> writers = new ArrayList<>();
    for (int writer = 0; writer < WRITERS; writer++) {
      SessionHandle session = handle(writer, sessionId);
      String name = "writer " + writer;
      Callable<Void> work =
          () -> {
            for (int number = 0; number < APPENDS; number++) {
              session.append(user(name + ": " + number));
            }
            return null;
          };
      writers.add(threads.submit(work));
    }
    cutAgainAndAgain();
    all(writers);

    List<List<Commit>> seen = all(followers);
    assertEquals(seen.get(0), seen.get(1));
    assertEquals(
        LongStream.rangeClosed(1, last).boxed().toList(),
        seen.get(0).stream().map(Commit::getVersion).toList());
    List<String> texts =
        seen.get(0).stream()
            .flatMap(commit -> commit.getMessagesList().stream())
            .map(message -> message.getParts(0).getText())
            .toList();
    for (int writer = 0; writer < WRITERS; writer++) {
      String name = "writer " + writer + ": ";
      assertEquals(
          IntStream.range(0, APPENDS).mapToObj(number -> name + number).toList(),
          texts.stream().filter(text -> text.startsWith(name)).toList());
    }
  }

  @Test
  void guardedChangesLoseNothingToEachOther() throws Exception {
    String sessionId = created();
    List<Future<Void>> writers = new ArrayList<>();
    for (int writer = 0; writer < WRITERS; writer++) {
      SessionHandle session = handle(writer, sessionId);
      Callable<Void> work =
          () -> {
            incremented(session);
            return null;
          };
      writers.add(threads.submit(work));
    }
    cutAgainAndAgain();
    all(writers);

    List<String> texts = new ArrayList<>();
    for (Message message : other.session(sessionId).messages()) {
      texts.add(message.getParts(0).getText());
    }
    assertEquals(IntStream.rangeClosed(1, WRITERS).mapToObj(Integer::toString).toList(), texts);
  }

  /** Appends the number behind the last one, at the version that it was read at. */
  private static void incremented(SessionHandle session) {
    while (true) {
      long last = session.context().getSession().getLastSeq();
      AppendRequest next =
          AppendRequest.newBuilder()
              .addMessages(user("" + (last + 1)))
              .setExpectedVersion(session.version())
              .build();
      try {
        session.append(next);
        return;
      } catch (VersionConflictException faster) {
        continue;
      }
    }
  }
}
