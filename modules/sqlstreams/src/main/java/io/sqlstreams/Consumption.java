package io.sqlstreams;

import java.time.Duration;

/**
 * A running consumption: it claims messages for its group and hands them to the handler until it is
 * stopped. Database faults don't end it; it waits and goes on. Thread-safe.
 */
public interface Consumption extends AutoCloseable {
  /**
   * Stops and waits for the end: claims nothing more, lets running handlers finish within the
   * group's timeout, records their results, and gives back what wasn't begun. May be called more
   * than once, and from a handler, where it only asks for the stop and returns at once.
   */
  void stop();

  /** The same as {@link #stop()}. */
  @Override
  void close();

  /**
   * Waits until the consumption has stopped, whoever stops it.
   *
   * @throws InterruptedException when the waiting thread is interrupted
   */
  void awaitStopped() throws InterruptedException;

  /**
   * Waits until the consumption has stopped, or the time is over.
   *
   * @return whether it has stopped
   * @throws InterruptedException when the waiting thread is interrupted
   */
  boolean awaitStopped(Duration atMost) throws InterruptedException;

  /** What this consumption has done so far. */
  ConsumptionCounters counters();
}
