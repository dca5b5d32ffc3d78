package io.sqlstreams.internal.wake;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * "There may be news." Setting it twice before somebody looks is the same as once; it is never
 * lost. Thread-safe.
 */
public final class Signal {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition isSet = lock.newCondition();
  private volatile boolean set;

  /** Sets it and wakes who waits. */
  public void set() {
    if (set) {
      return;
    }
    // never queues for the lock: a virtual thread that gets no carrier would hold up who waits
    while (!lock.tryLock()) {
      Thread.yield();
    }
    try {
      set = true;
      isSet.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits until it is set or the time is over, and clears it. Clear before looking, so that news
   * during the look count.
   */
  public void await(long nanos) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long left = nanos;
      while (!set && left > 0) {
        left = isSet.awaitNanos(left);
      }
      set = false;
    } finally {
      lock.unlock();
    }
  }
}
