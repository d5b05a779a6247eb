package dev.lockstitch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The README's first program. */
class ReadmeTest {

  private static final Pattern PROGRAM =
      Pattern.compile("```java\n(.*?)```.*?It prints\n\n```\n(.*?)```", Pattern.DOTALL);

  private static Testbed testbed;
  private static String token;

  @BeforeAll
  static void start() throws Exception {
    testbed = Testbed.start();
    token = testbed.token("java-" + UUID.randomUUID());
    // Loads what a first call loads, for which a busy machine takes longer than the program waits.
    try (Client client = Testbed.client(testbed.target("target"), token)) {
      client.checkServer();
    }
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
    compile(Files.writeString(folder.resolve("FirstProgram.java"), found.group(1)));

    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    PrintStream before = System.out;
    System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
    try (URLClassLoader classes =
        new URLClassLoader(new URL[] {folder.toUri().toURL()}, ReadmeTest.class.getClassLoader())) {
      Method main = classes.loadClass("FirstProgram").getDeclaredMethod("main", String[].class);
      main.setAccessible(true);
      main.invoke(null, (Object) new String[] {testbed.target("target"), token});
    } finally {
      System.setOut(before);
    }
    assertEquals(found.group(2), printed.toString(StandardCharsets.UTF_8));
  }

  private static void compile(Path program) {
    // Surefire hides the class path from java.class.path.
    String onlyHere = System.getProperty("java.class.path");
    String classPath = System.getProperty("surefire.test.class.path", onlyHere);
    int exitCode =
        ToolProvider.getSystemJavaCompiler()
            .run(null, null, null, "-Xlint:all", "-Werror", "-cp", classPath, program.toString());
    assertEquals(0, exitCode);
  }
}
