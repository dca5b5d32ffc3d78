package io.sqlstreams.internal.dispatch;

/**
 * A handler at work on a message. It ends once: by the handler's return, or by being abandoned. An
 * interrupt reaches the handler's thread only while it is at this message. Thread-safe.
 */
final class Attempt {
  private final Delivery delivery;
  private final Thread thread;
  private final long begunAt = System.nanoTime();
  private boolean interrupted;
  private boolean over;

  /**
   * @param thread the one that runs the handler
   */
  Attempt(Delivery delivery, Thread thread) {
    this.delivery = delivery;
    this.thread = thread;
  }

  Delivery delivery() {
    return delivery;
  }

  long nanosSinceBegin() {
    return System.nanoTime() - begunAt;
  }

  /** Tells the handler that its time is over. Does nothing the second time, or when it is over. */
  synchronized void interrupt() {
    if (!over && !interrupted) {
      interrupted = true;
      delivery.expire();
      thread.interrupt();
    }
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
}
