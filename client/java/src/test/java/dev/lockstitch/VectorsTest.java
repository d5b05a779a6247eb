package dev.lockstitch;

import static org.junit.jupiter.api.Assertions.assertFalse;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Every case of every file in client/testdata, against real servers. */
class VectorsTest {

  private static Testbed testbed;

  @BeforeAll
  static void start() throws IOException {
    testbed = Testbed.start();
  }

  @AfterAll
  static void stop() throws IOException, InterruptedException {
    testbed.stop();
  }

  @TestFactory
  Stream<DynamicContainer> vectors() throws IOException {
    List<Path> files = new ArrayList<>();
    try (DirectoryStream<Path> found =
        Files.newDirectoryStream(Testbed.REPOSITORY.resolve("client/testdata"), "*.json")) {
      found.forEach(files::add);
    }
    assertFalse(files.isEmpty());
    List<DynamicContainer> containers = new ArrayList<>();
    for (Path file : files.stream().sorted().toList()) {
      JsonObject vectors = JsonParser.parseString(Files.readString(file)).getAsJsonObject();
      containers.add(
          DynamicContainer.dynamicContainer(
              file.getFileName().toString(),
              StreamSupport.stream(vectors.getAsJsonArray("cases").spliterator(), false)
                  .map(one -> test(one.getAsJsonObject()))));
    }
    return containers.stream();
  }

  private static DynamicTest test(JsonObject one) {
    Iterable<JsonElement> steps = one.getAsJsonArray("steps");
    return DynamicTest.dynamicTest(
        one.get("name").getAsString(),
        () -> {
          try (VectorRun run = new VectorRun(testbed)) {
            run.play(steps);
          }
        });
  }
}
