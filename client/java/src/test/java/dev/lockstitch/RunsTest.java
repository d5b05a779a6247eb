package dev.lockstitch;

import static dev.lockstitch.Messages.assistant;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.lockstitch.errors.RunActiveException;
import dev.lockstitch.errors.RunFencedException;
import dev.lockstitch.v1.AppendRequest;
import dev.lockstitch.v1.CancelRunRequest;
import dev.lockstitch.v1.Checkpoint;
import dev.lockstitch.v1.CreateSessionRequest;
import dev.lockstitch.v1.GetCheckpointRequest;
import dev.lockstitch.v1.GetMemoryRequest;
import dev.lockstitch.v1.ListRunsRequest;
import dev.lockstitch.v1.OnBusy;
import dev.lockstitch.v1.PutCheckpointRequest;
import dev.lockstitch.v1.Run;
import dev.lockstitch.v1.RunEnd;
import dev.lockstitch.v1.RunStatus;
import dev.lockstitch.v1.UpdateMemoryRequest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Handles of runs against a real server. */
class RunsTest {

  private static final RunOptions OPTIONS = RunOptions.worker("w");

  private static Testbed testbed;
  private static Client client;
  private SessionHandle session;

  @BeforeAll
  static void start() throws Exception {
    testbed = Testbed.start();
    String token = testbed.token("java-" + UUID.randomUUID());
    client = Testbed.client(testbed.target("target"), token);
  }

  @AfterAll
  static void stop() throws Exception {
    client.close();
    testbed.stop();
  }

  @BeforeEach
  void create() {
    session = client.create(CreateSessionRequest.newBuilder().setUserId("u1").build());
  }

  private Run only() {
    return session.runs(ListRunsRequest.getDefaultInstance()).iterator().next();
  }

  @Test
  void aRunEndsWithItsBody() {
    session.run(
        OPTIONS,
        run -> {
          run.append(assistant("Done."));
          assertEquals(1, run.fencingToken());
          assertFalse(run.isLost() || run.isCancelRequested() || run.isJoined());
          assertTrue(run.leaseExpireTime().isAfter(Instant.EPOCH));
        });
    assertEquals(RunStatus.RUN_STATUS_SUCCEEDED, only().getStatus());
    assertEquals(4, session.version());
  }

  @Test
  void aRunFailsWithItsBodyWithTheErrorsText() {
    IOException failure = new IOException("é".repeat(5000));
    Exception seen =
        assertThrows(
            IOException.class,
            () ->
                session.run(
                    OPTIONS,
                    run -> {
                      throw failure;
                    }));
    assertSame(failure, seen);
    assertEquals(RunStatus.RUN_STATUS_FAILED, only().getStatus());
    assertTrue(only().getError().startsWith("IOException: é"));
    int bytes = only().getError().getBytes(StandardCharsets.UTF_8).length;
    assertTrue(bytes == 8191 || bytes == 8192, () -> "" + bytes);
    assertFalse(only().getError().contains("\ufffd"));
  }

  @Test
  void aRunIsCancelledWithItsBodyAlsoOnAnInterruptedThread() {
    assertThrows(
        CancellationException.class,
        () ->
            session.run(
                OPTIONS,
                run -> {
                  Thread.currentThread().interrupt();
                  throw new CancellationException();
                }));
    assertTrue(Thread.interrupted());
    assertEquals(RunStatus.RUN_STATUS_CANCELLED, only().getStatus());
  }

  @Test
  void aRunThatSomebodyTookOverEndsItsBodysWork() {
    RunOptions takeOver = RunOptions.worker("other").onBusy(OnBusy.ON_BUSY_INTERRUPT);
    AtomicReference<RunHandle> mine = new AtomicReference<>();
    assertThrows(
        RunFencedException.class,
        () ->
            session.run(
                OPTIONS,
                run -> {
                  mine.set(run);
                  try (RunHandle other = client.session(session.sessionId()).startRun(takeOver)) {
                    assertThrows(RunFencedException.class, () -> run.append(assistant("too late")));
                    assertTrue(run.isLost());
                    assertThrows(RunFencedException.class, run::context);
                    other.finish();
                  }
                }));
    var told = mine.get().lost().toCompletableFuture().orTimeout(20, TimeUnit.SECONDS).join();
    assertEquals(mine.get().runId(), assertInstanceOf(RunFencedException.class, told).runId());
  }

  @Test
  void aJoinedRunIsLeftRunningForWhoStartedIt() {
    try (RunHandle mine = session.startRun(RunOptions.worker("first"))) {
      assertThrows(RunActiveException.class, () -> session.run(OPTIONS, run -> {}));
      session.run(
          OPTIONS.onBusy(OnBusy.ON_BUSY_JOIN),
          joined -> {
            assertTrue(joined.isJoined());
            assertEquals(mine.runId(), joined.runId());
            joined.append(assistant("together"));
          });
      RunEnd end = RunEnd.newBuilder().setStatus(RunStatus.RUN_STATUS_SUCCEEDED).build();
      mine.append(
          AppendRequest.newBuilder().addMessages(assistant("mine")).setFinishRun(end).build());
      assertEquals(RunStatus.RUN_STATUS_SUCCEEDED, session.getRun(mine.runId()).getStatus());
    }
  }

  @Test
  void aRunThatIsLeftWithoutAWordOfItsEndHasFailed() {
    RunHandle left = session.startRun(OPTIONS);
    left.close();
    assertEquals(RunStatus.RUN_STATUS_FAILED, session.getRun(left.runId()).getStatus());
  }

  @Test
  void aRunIsToldThatItShouldEndAndKeepsAMemoryOfItsOwnAndCheckpoints() {
    session.run(
        OPTIONS,
        run -> {
          session.cancelRun(CancelRunRequest.newBuilder().setRunId(run.runId()).build());
          assertTrue(run.renew().getCancelRequested() && run.isCancelRequested());
          run.updateMemory(
              UpdateMemoryRequest.newBuilder()
                  .setRunId(run.runId())
                  .setChange(Memory.mergePatch("{\"plan\":[\"read the log\"]}"))
                  .build());
          GetMemoryRequest own = GetMemoryRequest.newBuilder().setRunId(run.runId()).build();
          assertEquals(List.of("read the log"), run.memory(own).getPlanList());
          ByteString data = ByteString.copyFrom(new byte[] {0, -1});
          run.putCheckpoint(
              PutCheckpointRequest.newBuilder()
                  .setCheckpoint(Checkpoint.newBuilder().setCheckpointId("0001").setData(data))
                  .build());
          Checkpoint latest =
              session.checkpoint(GetCheckpointRequest.getDefaultInstance()).getCheckpoint();
          assertEquals(data, latest.getData());
          assertEquals(run.runId(), latest.getRunId());
        });
    assertEquals(0, session.memoryVersion());
  }
}
