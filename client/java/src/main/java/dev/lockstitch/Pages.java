package dev.lockstitch;

import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.Function;

/** All items of a list, a page at a time as they are asked for. Each iteration begins anew. */
record Pages<P, T>(
    Function<String, P> page, Function<P, List<T>> items, Function<P, String> nextToken)
    implements Iterable<T> {

  @Override
  public Iterator<T> iterator() {
    return new Iterator<>() {
      private Iterator<T> here = List.<T>of().iterator();
      private String token = "";
      private boolean isLast;

      @Override
      public boolean hasNext() {
        while (!here.hasNext() && !isLast) {
          P got = page.apply(token);
          here = items.apply(got).iterator();
          token = nextToken.apply(got);
          isLast = token.isEmpty();
        }
        return here.hasNext();
      }

      @Override
      public T next() {
        if (!hasNext()) {
          throw new NoSuchElementException();
        }
        return here.next();
      }
    };
  }
}
