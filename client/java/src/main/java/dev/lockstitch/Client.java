package dev.lockstitch;

import com.google.protobuf.Message;
import dev.lockstitch.v1.AdminServiceGrpc;
import dev.lockstitch.v1.CreateSessionRequest;
import dev.lockstitch.v1.CreateSessionResponse;
import dev.lockstitch.v1.EraseUserRequest;
import dev.lockstitch.v1.EraseUserResponse;
import dev.lockstitch.v1.GetServerInfoRequest;
import dev.lockstitch.v1.GetServerInfoResponse;
import dev.lockstitch.v1.GetSessionRequest;
import dev.lockstitch.v1.ListSessionsRequest;
import dev.lockstitch.v1.ListSessionsResponse;
import dev.lockstitch.v1.PurgeSessionRequest;
import dev.lockstitch.v1.PurgeSessionResponse;
import dev.lockstitch.v1.Session;
import dev.lockstitch.v1.SessionServiceGrpc;
import io.grpc.Channel;
import io.grpc.ChannelCredentials;
import io.grpc.MethodDescriptor;
import java.time.Duration;
import java.util.function.Supplier;

/**
 * Speaks to a lockstitch server, from any thread.
 *
 * <pre>{@code
 * try (Client client = Client.connect("127.0.0.1:50051", token)) {
 *   SessionHandle session = client.create(CreateSessionRequest.newBuilder().setUserId("u1").build());
 *   session.append(user("hello"));
 * }
 * }</pre>
 *
 * <p>Calls block. UNAVAILABLE is retried with the same request_id and growing waits until the
 * call's time is up; the server's word on when to come again is kept. Everything else is thrown at
 * once, as a {@link dev.lockstitch.errors.LockstitchException}. A call whose thread is interrupted
 * ends with {@link dev.lockstitch.errors.CancelledException}.
 */
public final class Client implements AutoCloseable {

  private static final Duration ERASURE_TIMEOUT = Duration.ofSeconds(60);

  private final Transport transport;

  private Client(Transport transport) {
    this.transport = transport;
  }

  /**
   * A client of the server at a target such as {@code 127.0.0.1:50051}, {@code
   * dns:///store.example.org:443} or {@code unix:/run/lockstitch.sock}. It connects with the first
   * call.
   */
  public static Client connect(String target, String token) {
    return builder(target).token(token).build();
  }

  /** How to make a client of the server at a target. */
  public static Builder builder(String target) {
    return new Builder(target);
  }

  /** The same client, whose calls may take another time, all attempts of each together. */
  public Client withTimeout(Duration timeout) {
    return new Client(transport.withTimeout(timeout));
  }

  /** Creates a session, with its first messages and memory in the same commit. */
  public SessionHandle create(CreateSessionRequest request) {
    CreateSessionResponse response = call(SessionServiceGrpc.getCreateSessionMethod(), request);
    Seen seen = new Seen();
    seen.made(response.getReceipt(), null, false);
    seen.note(response.getSession());
    return new SessionHandle(transport, response.getSession().getSessionId(), seen);
  }

  /** The handle of a session that is there, with its {@code info()} read. */
  public SessionHandle get(String sessionId) {
    SessionHandle session = session(sessionId);
    session.get(GetSessionRequest.getDefaultInstance());
    return session;
  }

  /** The handle of a session without a call: whether it is there shows with the first one. */
  public SessionHandle session(String sessionId) {
    return new SessionHandle(transport, sessionId, new Seen());
  }

  /**
   * The sessions, the most recently used first, a page at a time as you go on. A user sees its own
   * only.
   */
  public Iterable<Session> list(ListSessionsRequest request) {
    return new Pages<>(
        token ->
            call(
                SessionServiceGrpc.getListSessionsMethod(),
                request.toBuilder().setPageToken(token).build()),
        ListSessionsResponse::getSessionsList,
        ListSessionsResponse::getNextPageToken);
  }

  /** What the server is and which limits it holds. For engines and admins. */
  public GetServerInfoResponse serverInfo() {
    return call(
        AdminServiceGrpc.getGetServerInfoMethod(), GetServerInfoRequest.getDefaultInstance());
  }

  /**
   * Asks the server for its version, and fails with {@link
   * dev.lockstitch.errors.ServerTooOldException} or {@link
   * dev.lockstitch.errors.ServerTooNewException} where this client does not speak with it. For
   * engines and admins.
   */
  public GetServerInfoResponse checkServer() {
    GetServerInfoResponse info = serverInfo();
    Versions.refuseOthers(info.getVersion());
    return info;
  }

  /**
   * Deletes all content of a session for good, whatever its state. Takes a minute at most. For
   * admins.
   */
  public PurgeSessionResponse purge(PurgeSessionRequest request) {
    return transport
        .withTimeout(ERASURE_TIMEOUT)
        .call(AdminServiceGrpc.getPurgeSessionMethod(), request);
  }

  /**
   * Purges all sessions of a user, however many calls that takes, and gives how many they were. For
   * admins.
   */
  public long eraseUser(String userId) {
    EraseUserRequest request = EraseUserRequest.newBuilder().setUserId(userId).build();
    long purged = 0;
    while (true) {
      EraseUserResponse answer =
          transport
              .withTimeout(ERASURE_TIMEOUT)
              .call(AdminServiceGrpc.getEraseUserMethod(), request);
      purged += answer.getSessionsPurged();
      if (answer.getSessionsRemaining() == 0) {
        return purged;
      }
    }
  }

  /**
   * Calls any unary method of the wire, with this client's token, request ids, retries and errors.
   */
  public <I extends Message, O extends Message> O call(MethodDescriptor<I, O> method, I request) {
    return transport.call(method, request);
  }

  /**
   * A channel for stubs of your own, such as to stream a draft: it brings the token, and nothing
   * else of what this client does.
   */
  public Channel channel() {
    return transport.channel();
  }

  /** Closes the connection. Calls in flight are given up, later ones refused. */
  @Override
  public void close() {
    transport.close();
  }

  /** How to speak to a server. */
  public static final class Builder {

    private final String target;
    private Supplier<String> token = () -> null;
    private ChannelCredentials credentials;
    private Duration timeout = Duration.ofSeconds(10);

    private Builder(String target) {
      this.target = target;
    }

    /** Who calls. Leave it out where a client certificate says it. */
    public Builder token(String fixed) {
      return token(() -> fixed);
    }

    /**
     * Gives a fresh token. It is asked before every attempt, so let it keep what it gives for as
     * long as it lives.
     */
    public Builder token(Supplier<String> fresh) {
      this.token = fresh;
      return this;
    }

    /**
     * How to speak: {@code TlsChannelCredentials} with roots or a certificate of your own, or
     * {@code InsecureChannelCredentials} for plain text by name, which can be read on the way. Left
     * out: plain text where the target can't leave this machine (loopback, {@code localhost}, a
     * Unix socket), else TLS.
     */
    public Builder credentials(ChannelCredentials chosen) {
      this.credentials = chosen;
      return this;
    }

    /** How long a call may take, all attempts together. Defaults to 10 seconds. */
    public Builder timeout(Duration time) {
      this.timeout = time;
      return this;
    }

    /** The client. It connects with the first call. */
    public Client build() {
      return new Client(new Transport(Endpoint.of(target, credentials), token, timeout));
    }
  }
}
