package dev.lockstitch;

/** What is done under a run, by {@link SessionHandle#run}. */
@FunctionalInterface
public interface RunBody<E extends Exception> {

  /** Works; what it throws fails the run. */
  void with(RunHandle run) throws E;
}
