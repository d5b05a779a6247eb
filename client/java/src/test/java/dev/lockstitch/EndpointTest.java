package dev.lockstitch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.lockstitch.errors.InvalidFieldException;
import io.grpc.ChannelCredentials;
import io.grpc.InsecureChannelCredentials;
import io.grpc.TlsChannelCredentials;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Targets, and whether plain text may be spoken to them. */
class EndpointTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "127.0.0.1:50051",
        "127.9.9.9:1",
        "localhost:50051",
        "LOCALHOST:1",
        "[::1]:50051",
        "[0:0:0:0:0:0:0:1]:50051",
        "dns:///localhost:1",
        "ipv4:127.0.0.1:1",
        "unix:/run/lockstitch.sock"
      })
  void isSpokenToInPlainTextWhereItCannotLeaveThisMachine(String target) {
    assertInstanceOf(InsecureChannelCredentials.class, Endpoint.of(target, null).credentials());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "store.example.org:443",
        "store.example.org",
        "10.0.0.1:50051",
        "[2001:db8::1]:1",
        "dns:///store.example.org:443",
        "localhost.example.org:1",
        "127.0.0.1.example.org:1",
        "128.0.0.1:1"
      })
  void isSpokenToByTlsUnlessPlainTextIsAskedForByName(String target) {
    assertInstanceOf(TlsChannelCredentials.class, Endpoint.of(target, null).credentials());
    ChannelCredentials plain = InsecureChannelCredentials.create();
    assertSame(plain, Endpoint.of(target, plain).credentials());
  }

  @Test
  void isWrittenAsGrpcReadsIt() {
    assertEquals("dns:///127.0.0.1:1", Endpoint.of("ipv4:127.0.0.1:1", null).target());
    assertEquals("dns:///[::1]:1", Endpoint.of("[::1]:1", null).target());
    assertEquals("unix:/run/a.sock", Endpoint.of("unix:/run/a.sock", null).target());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "127.0.0.1:50051/path", "http://127.0.0.1:1", "a b:1", "a:b"})
  void isRefusedWhereItIsNoTarget(String target) {
    assertThrows(InvalidFieldException.class, () -> Client.connect(target, "token"));
  }
}
