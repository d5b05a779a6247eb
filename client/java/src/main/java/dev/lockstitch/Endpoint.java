package dev.lockstitch;

import dev.lockstitch.errors.Failure;
import dev.lockstitch.errors.InvalidFieldException;
import io.grpc.ChannelCredentials;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.TlsChannelCredentials;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Where a server is, and how to speak to it. */
record Endpoint(String target, ChannelCredentials credentials) {

  private static final Pattern SCHEME = Pattern.compile("^(dns|ipv4|ipv6):(?://[^/]*/)?");
  private static final Pattern AUTHORITY =
      Pattern.compile("(\\[[0-9a-fA-F:.]+]|[^\\s:/\\[\\]]+)(:\\d+)?");

  /** The shortest that gRPC for Java takes. A server of ours lets callers ask every 5 s. */
  private static final long SILENCE_SECONDS = 10;

  private static final long SIGN_OF_LIFE_SECONDS = 3;
  private static final Pattern LOOPBACK =
      Pattern.compile("127\\.\\d+\\.\\d+\\.\\d+|\\[(0{0,4}:){2,7}0{0,3}1]|localhost");

  /**
   * The endpoint of a target such as {@code 127.0.0.1:50051}, {@code dns:///store.example.org:443},
   * {@code unix:/run/lockstitch.sock}; without credentials, plain text where it can't leave this
   * machine, else TLS.
   */
  static Endpoint of(String target, ChannelCredentials credentials) {
    ChannelCredentials chosen = credentials;
    if (chosen == null) {
      chosen =
          isLocal(target) ? InsecureChannelCredentials.create() : TlsChannelCredentials.create();
    }
    if (target.startsWith("unix:")) {
      return new Endpoint(target, chosen);
    }
    String authority = authority(target);
    if (!AUTHORITY.matcher(authority).matches()) {
      String words = "is not HOST:PORT, dns:///HOST:PORT or unix:PATH: \"" + target + "\"";
      throw new InvalidFieldException("target: " + words + ".", Failure.ofField("target", words));
    }
    return new Endpoint(target.startsWith("dns:") ? target : "dns:///" + authority, chosen);
  }

  /**
   * Whether a target can't leave this machine: a loopback address, {@code localhost} or a Unix
   * socket.
   */
  static boolean isLocal(String target) {
    if (target.startsWith("unix:")) {
      return true;
    }
    Matcher parts = AUTHORITY.matcher(authority(target));
    return parts.matches() && LOOPBACK.matcher(parts.group(1).toLowerCase(Locale.ROOT)).matches();
  }

  /**
   * A connection, which is made with the first call. Retries are the client's: two layers would
   * multiply their attempts. One that is silent while calls wait is asked for a sign of life, and
   * made anew where none comes.
   */
  ManagedChannel open() {
    return Grpc.newChannelBuilder(target, credentials)
        .disableRetry()
        .keepAliveTime(SILENCE_SECONDS, TimeUnit.SECONDS)
        .keepAliveTimeout(SIGN_OF_LIFE_SECONDS, TimeUnit.SECONDS)
        .build();
  }

  private static String authority(String target) {
    return SCHEME.matcher(target).replaceFirst("");
  }
}
