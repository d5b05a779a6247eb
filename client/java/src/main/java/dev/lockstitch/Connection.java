package dev.lockstitch;

import io.grpc.ManagedChannel;
import java.util.ArrayList;
import java.util.List;

/**
 * The channel of the moment; whoever found its network dead without a word says so with {@link
 * #renew}.
 */
final class Connection {

  private final Endpoint endpoint;
  private final List<ManagedChannel> replaced = new ArrayList<>();
  private ManagedChannel channel;

  Connection(Endpoint endpoint) {
    this.endpoint = endpoint;
    this.channel = endpoint.open();
  }

  synchronized ManagedChannel channel() {
    return channel;
  }

  /** Replaces the channel, unless somebody did already. Calls in flight on it end by themselves. */
  synchronized void renew(ManagedChannel suspect) {
    if (channel == suspect && !suspect.isShutdown()) {
      replaced.removeIf(ManagedChannel::isTerminated);
      replaced.add(suspect);
      channel = endpoint.open();
      suspect.shutdown();
    }
  }

  /** Ends what is in flight. */
  synchronized void close() {
    channel.shutdownNow();
    replaced.forEach(ManagedChannel::shutdownNow);
  }
}
