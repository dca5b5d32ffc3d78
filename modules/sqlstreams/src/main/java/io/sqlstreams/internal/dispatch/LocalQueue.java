package io.sqlstreams.internal.dispatch;

import io.sqlstreams.internal.wake.Signal;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
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
  private final ArrayDeque<Sleeper> sleepers = new ArrayDeque<>();
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
    lock();
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
        wakeOne();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Puts deliveries of one work back, in front of everything else. */
  void putBack(List<Delivery> deliveries) {
    lock();
    try {
      if (closed) {
        return;
      }
      for (int i = deliveries.size() - 1; i >= 0; i--) {
        waiting.addFirst(deliveries.get(i));
        bytes += deliveries.get(i).bytes();
      }
      messages = waiting.size();
      wakeOne();
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
    lock();
    try {
      idle++;
      while (waiting.isEmpty() && !closed) {
        room.set();
        sleep();
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

  /**
   * Never queues for the lock, which is held for an instant only. Whoever queues behind a virtual
   * thread waits for it to run first, and it can't while handlers spin on every carrier.
   */
  private void lock() {
    while (!lock.tryLock()) {
      Thread.yield();
    }
  }

  /** Gives the lock up until somebody wakes this thread, and takes it again. */
  private void sleep() {
    Sleeper self = new Sleeper(Thread.currentThread());
    sleepers.push(self);
    lock.unlock();
    while (!self.woken) {
      LockSupport.park(this);
      // it is idle, so no handler is meant
      Thread.interrupted();
    }
    lock();
  }

  /**
   * The one that fell asleep last. So those that get no carrier to wake up on sink to the bottom:
   * whoever came after them has a thread that runs.
   */
  private void wakeOne() {
    Sleeper last = sleepers.poll();
    if (last != null) {
      last.woken = true;
      LockSupport.unpark(last.thread);
    }
  }

  /** A handler that waits for a message. */
  private static final class Sleeper {
    private final Thread thread;
    private volatile boolean woken;

    Sleeper(Thread thread) {
      this.thread = thread;
    }
  }

  /** Hands out nothing more; what is left was not begun. */
  void close() {
    lock();
    try {
      closed = true;
      waiting.clear();
      messages = 0;
      bytes = 0;
      while (!sleepers.isEmpty()) {
        wakeOne();
      }
    } finally {
      lock.unlock();
    }
  }
}
