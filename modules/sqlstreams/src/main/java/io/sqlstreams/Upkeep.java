package io.sqlstreams;

import java.time.Duration;

/**
 * Background work that was asked for by {@link Manager#run} and goes on until it is stopped.
 * Thread-safe.
 */
public interface Upkeep extends AutoCloseable {
  /**
   * Stops and waits for the end, unless the client's manager goes on for others: takes no worker
   * any more, interrupts the turns that run and waits up to 10 s for them, and gives the workers
   * back, so that other processes take them at once. May be called more than once, and from a
   * worker, where it only asks for the stop and returns at once. Closing the client does the same.
   */
  void stop();

  /** The same as {@link #stop()}. */
  @Override
  void close();

  /**
   * Waits until it has stopped, whoever stops it.
   *
   * @throws InterruptedException when the waiting thread is interrupted
   */
  void awaitStopped() throws InterruptedException;

  /**
   * Waits until it has stopped, or the time is over.
   *
   * @return whether it has stopped
   * @throws InterruptedException when the waiting thread is interrupted
   */
  boolean awaitStopped(Duration atMost) throws InterruptedException;
}
