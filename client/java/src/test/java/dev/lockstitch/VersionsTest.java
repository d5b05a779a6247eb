package dev.lockstitch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.lockstitch.errors.ServerTooNewException;
import dev.lockstitch.errors.ServerTooOldException;
import io.grpc.Status.Code;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which servers this client fits. */
class VersionsTest {

  @ParameterizedTest
  @ValueSource(strings = {"0.1.0", "0.1.1-rc.1", "0.10.0+build.5", "0.99.99999999999999999999"})
  void fits(String version) {
    Versions.refuseOthers(version);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "banana", "0.0.99", "0.1", "0.1.0.4", "0.1.x", "v0.1.0", "٠.١.٠"})
  void isTooOldOrNoVersion(String version) {
    assertThrows(ServerTooOldException.class, () -> Versions.refuseOthers(version));
  }

  @Test
  void isTooNewAndTheErrorSaysWhichWouldDo() {
    var error =
        assertThrows(ServerTooNewException.class, () -> Versions.refuseOthers("1.0.0-rc.1"));
    assertEquals(
        Map.of("server_version", "1.0.0-rc.1", "from", "0.1.0", "before", "1.0.0"),
        error.metadata());
    assertEquals(Code.UNIMPLEMENTED, error.code());
    assertEquals("", error.reason());
    assertEquals("1.0.0-rc.1", error.serverVersion());
  }
}
