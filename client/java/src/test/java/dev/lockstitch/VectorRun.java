package dev.lockstitch;

import static dev.lockstitch.Patterns.filled;
import static dev.lockstitch.Patterns.mismatch;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.lockstitch.errors.FieldViolation;
import dev.lockstitch.errors.LockstitchException;
import dev.lockstitch.v1.OnBusy;
import dev.lockstitch.v1.RunStatus;
import dev.lockstitch.v1.SubscribeRequest;
import dev.lockstitch.v1.SubscribeResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** One case of the test vectors, played with this client in a tenant of its own. */
final class VectorRun implements AutoCloseable {

  private static final long NEXT_SECONDS = 30;
  private static final long LOST_SECONDS = 20;

  private final Testbed testbed;
  private final String tenant = "java-" + UUID.randomUUID();
  private final Map<String, JsonElement> saved = new HashMap<>();
  private final Map<String, Client> clients = new HashMap<>();
  private final Map<String, RunHandle> runs = new HashMap<>();
  private final Map<String, Subscription<SubscribeResponse>> subscriptions = new HashMap<>();
  private final ScheduledExecutorService alarms = Executors.newSingleThreadScheduledExecutor();
  private String second = "";

  VectorRun(Testbed testbed) {
    this.testbed = testbed;
  }

  /** Does the steps in order; throws at the first that is not as it should be. */
  void play(Iterable<JsonElement> steps) {
    int number = 0;
    for (JsonElement step : steps) {
      number++;
      try {
        step(step.getAsJsonObject());
      } catch (Exception | AssertionError failure) {
        String text = step.toString();
        String shown = text.substring(0, Math.min(text.length(), 500));
        throw new AssertionError("step " + number + ", " + shown + ": " + failure, failure);
      }
    }
  }

  @Override
  public void close() throws IOException {
    subscriptions.values().forEach(Subscription::close);
    for (String command : List.of("forgive", "restore", "forget_calls")) {
      testbed.send(command);
    }
    for (RunHandle held : runs.values()) {
      try {
        held.close();
      } catch (LockstitchException taken) {
        continue; // a run that the case took from its holder
      }
    }
    clients.values().forEach(Client::close);
    alarms.shutdownNow();
  }

  private void step(JsonObject step) throws Exception {
    JsonObject filledIn = filled(step, saved).getAsJsonObject();
    if (step.has("until")) {
      Waiting.until(() -> expected(filledIn));
    } else {
      expected(filledIn);
    }
  }

  private void expected(JsonObject step) throws Exception {
    if (step.has("error")) {
      try {
        JsonObject answer = done(step);
        fail("It succeeded: " + answer);
      } catch (LockstitchException error) {
        assertIs(error, step.getAsJsonObject("error"));
      }
      return;
    }
    JsonObject answer = done(step);
    JsonElement pattern = step.has("answer") ? step.get("answer") : step.get("frame");
    if (pattern != null) {
      assertEquals("", mismatch(pattern, answer, "answer"));
    }
    if (step.has("save")) {
      step.getAsJsonObject("save")
          .entrySet()
          .forEach(
              one -> saved.put(one.getKey(), Patterns.at(answer, one.getValue().getAsString())));
    }
  }

  private JsonObject done(JsonObject step) throws Exception {
    return switch (step.keySet().iterator().next()) {
      case "call" -> call(step);
      case "testbed" -> command(step);
      case "subscribe" -> subscribe(step);
      case "next" -> next(step);
      case "close" -> {
        subscriptions.get(text(step, "close")).close();
        yield new JsonObject();
      }
      case "run" -> startRun(step);
      case "finish" -> {
        String status = text(step, "status", "succeeded").toUpperCase(Locale.ROOT);
        RunHandle held = runs.get(text(step, "finish"));
        yield Rpcs.json(held.finish(RunStatus.valueOf("RUN_STATUS_" + status), ""));
      }
      case "lost" -> {
        RunHandle held = runs.get(text(step, "lost"));
        held.lost().toCompletableFuture().get(LOST_SECONDS, TimeUnit.SECONDS);
        assertTrue(held.isLost());
        yield new JsonObject();
      }
      case "check_server" -> Rpcs.json(client(step).checkServer());
      default -> throw new AssertionError("A step that nobody knows: " + step);
    };
  }

  private JsonObject call(JsonObject step) throws Exception {
    String name = text(step, "call");
    var request = Rpcs.request(name, step.get("request"));
    if (step.has("under")) {
      return Rpcs.json(runs.get(text(step, "under")).call(Rpcs.method(name), request));
    }
    return Rpcs.json(timed(client(step), step).call(Rpcs.method(name), request));
  }

  private JsonObject command(JsonObject step) throws IOException {
    JsonObject keywords = step.has("with") ? step.getAsJsonObject("with") : new JsonObject();
    JsonObject answer = testbed.send(text(step, "testbed"), keywords);
    if (text(step, "testbed").equals("second_server")) {
      second = text(answer, "target");
    }
    return answer;
  }

  private JsonObject subscribe(JsonObject step) throws Exception {
    SubscribeRequest request = (SubscribeRequest) Rpcs.request("Subscribe", step.get("request"));
    SessionHandle session = timed(client(step), step).session(request.getSessionId());
    subscriptions.put(text(step, "subscribe"), session.frames(request));
    return new JsonObject();
  }

  private JsonObject next(JsonObject step) throws Exception {
    Subscription<SubscribeResponse> subscription = subscriptions.get(text(step, "next"));
    ScheduledFuture<?> alarm = alarms.schedule(subscription::close, NEXT_SECONDS, TimeUnit.SECONDS);
    try {
      while (true) {
        JsonObject frame = Rpcs.json(subscription.next());
        String kind = frame.keySet().iterator().next();
        if (kind.equals(text(step, "kind", ""))) {
          return frame.getAsJsonObject(kind);
        }
        assertTrue(
            !step.has("kind") || !kind.equals("commit"),
            () -> "A commit that nobody asked for: " + frame);
      }
    } finally {
      alarm.cancel(false);
    }
  }

  private JsonObject startRun(JsonObject step) throws Exception {
    String onBusy = text(step, "on_busy", "reject").toUpperCase(Locale.ROOT);
    RunOptions options =
        RunOptions.worker(text(step, "worker", ""))
            .onBusy(OnBusy.valueOf("ON_BUSY_" + onBusy))
            .runId(text(step, "run_id", ""));
    if (step.has("lease_ms")) {
      options = options.lease(Duration.ofMillis(step.get("lease_ms").getAsLong()));
    }
    RunHandle held = client(step).session(text(step, "session_id")).startRun(options);
    runs.put(text(step, "run"), held);
    JsonObject answer = new JsonObject();
    answer.add("run", Rpcs.json(held.state()));
    return answer;
  }

  private Client client(JsonObject step) throws IOException {
    String who = text(step, "as", "engine");
    String way = text(step, "through", "direct");
    Client known = clients.get(who + " " + way);
    if (known == null) {
      known = Client.connect(target(way), token(who));
      clients.put(who + " " + way, known);
    }
    return known;
  }

  private String target(String way) {
    return switch (way) {
      case "direct" -> testbed.target("target");
      case "second" -> second;
      default -> testbed.target(way + "_target");
    };
  }

  private String token(String who) throws IOException {
    return switch (who) {
      case "nobody" -> null;
      case "forged" -> "forged";
      case "engine" -> testbed.token(tenant);
      case "expired" -> testbed.token(tenant, "engine-1", "engine", -60);
      case "admin" -> testbed.token(tenant, "admin-1", "admin", 3600);
      default -> testbed.token(tenant, who.substring("user:".length()), "user", 3600);
    };
  }

  private static Client timed(Client client, JsonObject step) {
    return step.has("timeout_ms")
        ? client.withTimeout(Duration.ofMillis(step.get("timeout_ms").getAsLong()))
        : client;
  }

  private static void assertIs(LockstitchException error, JsonObject expected) {
    if (expected.has("type")) {
      assertEquals(text(expected, "type") + "Exception", error.getClass().getSimpleName());
      return;
    }
    assertEquals(text(expected, "reason"), error.reason(), error::toString);
    assertEquals(text(expected, "code"), error.code().name());
    assertEquals(
        ErrorNames.of(text(expected, "code"), error.reason()), error.getClass().getSimpleName());
    if (expected.has("metadata")) {
      JsonObject metadata = new JsonObject();
      error.metadata().forEach(metadata::addProperty);
      assertEquals("", mismatch(expected.get("metadata"), metadata, "metadata"));
    }
    if (expected.has("fields")) {
      List<String> fields = new ArrayList<>();
      expected.getAsJsonArray("fields").forEach(field -> fields.add(field.getAsString()));
      assertEquals(fields, error.fieldViolations().stream().map(FieldViolation::field).toList());
    }
    if (expected.has("retry_after_ms")) {
      Duration after = Duration.ofMillis(expected.get("retry_after_ms").getAsLong());
      assertEquals(after, error.retryAfter().orElse(Duration.ZERO));
    }
    if (expected.has("request_id")) {
      JsonElement given = new com.google.gson.JsonPrimitive(error.requestId());
      assertEquals("", mismatch(expected.get("request_id"), given, "request_id"));
    }
  }

  private static String text(JsonObject object, String key) {
    return object.get(key).getAsString();
  }

  private static String text(JsonObject object, String key, String otherwise) {
    return object.has(key) ? text(object, key) : otherwise;
  }
}
