package dev.lockstitch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The README's first program. */
class ReadmeTest {

  private static final Pattern PROGRAM =
      Pattern.compile("```java\n(.*?)```.*?It prints\n\n```\n(.*?)```", Pattern.DOTALL);

  private static Testbed testbed;

  @BeforeAll
  static void start() throws Exception {
    testbed = Testbed.start();
  }

  @AfterAll
  static void stop() throws Exception {
    testbed.stop();
  }

  @Test
  void printsWhatItSays(@TempDir Path folder) throws Exception {
    Path readme = Testbed.REPOSITORY.resolve("client/java/README.md");
    Matcher found = PROGRAM.matcher(Files.readString(readme));
    assertTrue(found.find());
    Path program = Files.writeString(folder.resolve("FirstProgram.java"), found.group(1));

    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    ProcessBuilder command =
        new ProcessBuilder(
            java,
            "-cp",
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
            program.toString());
    command.environment().put("LOCKSTITCH_TARGET", testbed.target("target"));
    command.environment().put("LOCKSTITCH_TOKEN", testbed.token("java-" + UUID.randomUUID()));
    Process running = command.redirectError(ProcessBuilder.Redirect.INHERIT).start();
    String printed = new String(running.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(running.waitFor(60, TimeUnit.SECONDS));
    assertEquals(found.group(2), printed);
    assertEquals(0, running.exitValue());
  }
}
