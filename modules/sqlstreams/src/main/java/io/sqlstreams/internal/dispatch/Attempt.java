package io.sqlstreams.internal.dispatch;

import java.time.Duration;
import java.util.List;

/**
 * A handler at work on a message, or on several at once. It ends once: by the handler's return, or
 * by being abandoned. An interrupt reaches the handler's thread only while it is at this attempt.
 * Thread-safe.
 */
final class Attempt {
  /** How long an interrupted handler may take to return. */
  static final Duration GRACE = Duration.ofMillis(100);

  /** What the end of the time means beyond the interrupt. Called by the thread that watches. */
  interface Owner {
    /** The time is over; the handler's thread has been interrupted. */
    default void interrupted() {}

    /** The handler didn't return. Its thread must not touch anything any more. */
    void abandoned();
  }

  private final List<Delivery> deliveries;
  private final Duration timeout;
  private final Thread thread;
  private final Owner owner;
  private final long begunAt = System.nanoTime();
  private boolean interrupted;
  private boolean over;

  /**
   * @param deliveries what it is at; none when it isn't the handler that is watched, but what the
   *     library does after it
   * @param timeout how long it may take
   * @param thread the one that runs the handler
   */
  Attempt(List<Delivery> deliveries, Duration timeout, Thread thread, Owner owner) {
    this.deliveries = deliveries;
    this.timeout = timeout;
    this.thread = thread;
    this.owner = owner;
    deliveries.forEach(Delivery::begin);
  }

  List<Delivery> deliveries() {
    return deliveries;
  }

  /** In words, for messages. */
  String what() {
    return deliveries.isEmpty()
        ? "the end of a transaction"
        : "the handler of message " + deliveries.get(0).id();
  }

  Duration timeout() {
    return timeout;
  }

  long nanosSinceBegin() {
    return System.nanoTime() - begunAt;
  }

  /** How long until the interrupt is due, or the end of the grace after it. */
  long nanosToDeadline() {
    long deadline = timeout.toNanos() + (wasInterrupted() ? GRACE.toNanos() : 0);
    return deadline - nanosSinceBegin();
  }

  /** Tells the handler that its time is over. Does nothing the second time, or when it is over. */
  void interrupt() {
    if (interruptThread()) {
      owner.interrupted();
    }
  }

  private synchronized boolean interruptThread() {
    if (over || interrupted) {
      return false;
    }
    interrupted = true;
    deliveries.forEach(Delivery::expire);
    thread.interrupt();
    return true;
  }

  /** Whether the handler was told that its time is over. */
  synchronized boolean wasInterrupted() {
    return interrupted;
  }

  /**
   * The handler has returned; called by its thread.
   *
   * @return whether its result counts, that is, it wasn't abandoned
   */
  synchronized boolean end() {
    boolean first = !over;
    over = true;
    // whoever interrupted the thread meant this handler, not the next one
    Thread.interrupted();
    return first;
  }

  /**
   * The handler is waited for no more.
   *
   * @return whether it hadn't returned
   */
  synchronized boolean abandon() {
    boolean first = !over;
    over = true;
    return first;
  }

  /** See {@link Owner#abandoned}; after {@link #abandon}. */
  void reportAbandoned() {
    owner.abandoned();
  }
}
