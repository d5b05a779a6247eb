package dev.lockstitch;

import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * An open server stream, read one message at a time. Nothing runs but whoever waits in {@link
 * #read}.
 */
final class Stream<O> {

  private final ClientCall<?, O> call;
  private final Runnable whenSilent;
  private final BlockingQueue<Event<O>> events = new LinkedBlockingQueue<>();

  /**
   * {@code whenSilent} hears of a silence that was too long: the connection is not to be trusted
   * any more.
   */
  <I> Stream(ClientCall<I, O> call, I request, Runnable whenSilent) {
    this.call = call;
    this.whenSilent = whenSilent;
    call.start(new Listener(), new Metadata());
    call.sendMessage(request);
    call.halfClose();
    call.request(1);
  }

  /**
   * The next message; null at the stream's end. Throws what the stream failed with, as gRPC has it.
   */
  O read(Duration within) throws InterruptedException, TimeoutException {
    Event<O> event = events.poll(within.toNanos(), TimeUnit.NANOSECONDS);
    if (event == null) {
      end();
      whenSilent.run();
      throw new TimeoutException("Nothing came within " + within + ".");
    }
    if (event.message() != null) {
      call.request(1);
      return event.message();
    }
    if (!event.status().isOk()) {
      throw event.status().asRuntimeException(event.trailers());
    }
    return null;
  }

  /** Ends it, from whichever thread. */
  void end() {
    call.cancel("Nobody reads it any more.", null);
  }

  private record Event<O>(O message, Status status, Metadata trailers) {}

  private final class Listener extends ClientCall.Listener<O> {

    @Override
    public void onMessage(O message) {
      events.add(new Event<>(message, null, null));
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      events.add(new Event<>(null, status, trailers));
    }
  }
}
