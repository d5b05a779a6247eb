package dev.lockstitch;

import dev.lockstitch.v1.SubscribeResponse;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.Function;

/**
 * What is followed of a session, one item after the other, for as long as somebody goes on.
 *
 * <p>Each commit comes once, in order of version, none is left out, whatever happens to servers,
 * their database and the network meanwhile: a lost stream is resumed behind the last commit.
 * Waiting for the next item blocks; it throws what no further attempt can mend, and {@link
 * dev.lockstitch.errors.CancelledException} where the client is closed or the thread interrupted.
 * Read it in one thread; close it from any.
 *
 * <pre>{@code
 * try (var commits = session.subscribe(0)) {
 *   for (Commit commit : commits) {
 *     System.out.println(commit.getVersion());
 *   }
 * }
 * }</pre>
 */
public final class Subscription<T> implements Iterable<T>, Iterator<T>, AutoCloseable {

  private final Frames frames;
  private final Function<SubscribeResponse, T> item;
  private T next;

  /** {@code item} makes an item of a frame, or null of one that is none. */
  Subscription(Frames frames, Function<SubscribeResponse, T> item) {
    this.frames = frames;
    this.item = item;
  }

  /** Waits for the next item. False where the subscription was closed. */
  @Override
  public boolean hasNext() {
    while (next == null) {
      SubscribeResponse frame = frames.next();
      if (frame == null) {
        return false;
      }
      next = item.apply(frame);
    }
    return true;
  }

  @Override
  public T next() {
    if (!hasNext()) {
      throw new NoSuchElementException("The subscription was closed.");
    }
    T given = next;
    next = null;
    return given;
  }

  /** The subscription itself: it goes on where it is. */
  @Override
  public Iterator<T> iterator() {
    return this;
  }

  /** Leaves it. */
  @Override
  public void close() {
    frames.end();
  }
}
