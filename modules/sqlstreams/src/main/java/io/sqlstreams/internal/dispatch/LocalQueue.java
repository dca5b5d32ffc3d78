package io.sqlstreams.internal.dispatch;

import io.sqlstreams.internal.wake.Signal;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Messages that wait for a handler, in the order of their claims. How many there may be is decided
 * by who claims; here they are counted. Thread-safe.
 */
@SuppressWarnings(
    "NonAtomicVolatileUpdate") // updates are under the lock; who reads without it wants a recent
// value
final class LocalQueue {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final ArrayDeque<Delivery> waiting = new ArrayDeque<>();
  private final Signal room;
  private volatile int messages;
  private volatile long bytes;
  private volatile int idle;
  private volatile int wakeAt;
  private volatile boolean closed;

  /**
   * @param room set when so few messages are left that more should be claimed, or when a handler is
   *     idle
   */
  LocalQueue(Signal room) {
    this.room = room;
  }

  int messages() {
    return messages;
  }

  long bytes() {
    return bytes;
  }

  /** How many handlers wait for a message. */
  int idle() {
    return idle;
  }

  boolean isClosed() {
    return closed;
  }

  /** Has the signal set when no more than so many messages are left. */
  void wakeAt(int messages) {
    wakeAt = messages;
  }

  /** Adds work; once the queue is closed, that leaves it unbegun. */
  void add(Work work) {
    lock.lock();
    try {
      if (closed) {
        return;
      }
      for (Delivery delivery : work.deliveries()) {
        waiting.add(delivery);
        bytes += delivery.bytes();
      }
      messages = waiting.size();
      for (int woken = 0; woken < work.deliveries().size() && woken < idle; woken++) {
        changed.signal();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Puts deliveries of one work back, in front of everything else. */
  void putBack(List<Delivery> deliveries) {
    lock.lock();
    try {
      if (closed) {
        return;
      }
      for (int i = deliveries.size() - 1; i >= 0; i--) {
        waiting.addFirst(deliveries.get(i));
        bytes += deliveries.get(i).bytes();
      }
      messages = waiting.size();
      changed.signal();
    } finally {
      lock.unlock();
    }
  }

  /**
   * The next message, once there is one, and those of the same work that follow it; null when the
   * queue is closed.
   *
   * @param most the most to take, 1 or above
   * @param taking is run when something is taken, under this queue's lock: whoever closes the queue
   *     afterwards sees what it did
   */
  @Nullable List<Delivery> take(int most, Runnable taking) {
    @Nullable List<Delivery> taken;
    lock.lock();
    try {
      idle++;
      while (waiting.isEmpty() && !closed) {
        room.set();
        changed.awaitUninterruptibly();
      }
      taken = closed ? null : takeNext(most);
      if (taken != null) {
        taking.run();
      }
    } finally {
      idle--;
      lock.unlock();
    }
    if (messages <= wakeAt) {
      room.set();
    }
    return taken;
  }

  private List<Delivery> takeNext(int most) {
    Delivery first = waiting.remove();
    bytes -= first.bytes();
    List<Delivery> taken = List.of(first);
    if (most > 1 && isNext(first.work())) {
      taken = new ArrayList<>(taken);
      while (taken.size() < most && isNext(first.work())) {
        Delivery next = waiting.remove();
        bytes -= next.bytes();
        taken.add(next);
      }
    }
    messages = waiting.size();
    return taken;
  }

  private boolean isNext(Work work) {
    Delivery next = waiting.peek();
    return next != null && next.work() == work;
  }

  /** Hands out nothing more; what is left was not begun. */
  void close() {
    lock.lock();
    try {
      closed = true;
      waiting.clear();
      messages = 0;
      bytes = 0;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
