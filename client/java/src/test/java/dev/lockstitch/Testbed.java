package dev.lockstitch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Real servers that fail when they are told to; client/testdata/README.md describes it. */
final class Testbed {

  /** The repository's root. */
  static final Path REPOSITORY = rootAbove(Path.of("").toAbsolutePath());

  private final Process process;
  private final BufferedReader answers;
  private final BufferedWriter commands;
  private final JsonObject targets;

  private Testbed(Process process) throws IOException {
    this.process = process;
    this.answers = process.inputReader(StandardCharsets.UTF_8);
    this.commands = process.outputWriter(StandardCharsets.UTF_8);
    this.targets = answer();
  }

  static Testbed start() throws IOException {
    String given = System.getenv("LOCKSTITCH_TESTBED");
    List<String> command =
        given != null
            ? List.of(given.split(" "))
            : List.of(
                REPOSITORY.resolve(".venv/bin/python").toString(),
                REPOSITORY.resolve("client/testdata/testbed.py").toString());
    return new Testbed(
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
  }

  /** What the first line says: {@code target}, {@code proxy_target}, {@code between_target}. */
  String target(String name) {
    return targets.get(name).getAsString();
  }

  /** Sends a command and gives its answer. */
  JsonObject send(String command) throws IOException {
    return send(command, new JsonObject());
  }

  /** Sends a command with keywords and gives its answer. */
  synchronized JsonObject send(String command, JsonObject keywords) throws IOException {
    JsonObject line = keywords.deepCopy();
    line.addProperty("command", command);
    commands.write(line + "\n");
    commands.flush();
    JsonObject answer = answer();
    assertTrue(answer.get("ok").getAsBoolean(), () -> command + ": " + answer);
    return answer;
  }

  /** A client that is patient with a busy machine. */
  static Client client(String target, String token) {
    return Client.builder(target).token(token).timeout(Duration.ofSeconds(60)).build();
  }

  /** A token of a tenant's engine. */
  String token(String tenant) throws IOException {
    return token(tenant, "engine-1", "engine", 3600);
  }

  String token(String tenant, String user, String role, int ttlSeconds) throws IOException {
    JsonObject keywords = new JsonObject();
    keywords.addProperty("tenant", tenant);
    keywords.addProperty("user", user);
    keywords.addProperty("role", role);
    keywords.addProperty("ttl_seconds", ttlSeconds);
    return send("token", keywords).get("token").getAsString();
  }

  void stop() throws IOException, InterruptedException {
    commands.close();
    assertTrue(process.waitFor(60, TimeUnit.SECONDS));
    assertEquals(0, process.exitValue());
  }

  private JsonObject answer() throws IOException {
    String line = answers.readLine();
    assertNotNull(line, "The testbed has ended.");
    return JsonParser.parseString(line).getAsJsonObject();
  }

  private static Path rootAbove(Path folder) {
    if (Files.exists(folder.resolve("protos/buf.yaml"))) {
      return folder;
    }
    assertNotNull(folder.getParent(), "This test needs the whole repository.");
    return rootAbove(folder.getParent());
  }
}
