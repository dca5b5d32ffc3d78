package io.sqlstreams.internal.lifecycle;

/** Waiting for what ends by itself; an interrupt is kept for later. */
public final class Uninterruptibly {
  private Uninterruptibly() {}

  /** What may be interrupted. */
  @FunctionalInterface
  public interface Wait {
    void run() throws InterruptedException;
  }

  /** Waits for the thread's end. */
  public static void join(Thread thread) {
    run(thread::join);
  }

  /** Repeats the wait until it has come to its end without an interrupt. */
  public static void run(Wait wait) {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          wait.run();
          return;
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
