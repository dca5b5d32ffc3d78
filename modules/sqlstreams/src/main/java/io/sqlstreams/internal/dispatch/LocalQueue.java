package io.sqlstreams.internal.dispatch;

import io.sqlstreams.internal.outcome.Verdict;
import io.sqlstreams.internal.wake.Signal;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Messages that wait for a handler, in the order of their claims; where messages of a key follow
 * each other, one is handed out when the one before has ended. How many there may be is decided by
 * who claims; here they are counted. Thread-safe.
 */
@SuppressWarnings(
    "NonAtomicVolatileUpdate") // updates are under the lock; who reads without it wants a recent
// value
final class LocalQueue {
  private final ReentrantLock lock = new ReentrantLock();
  private final ArrayDeque<Sleeper> sleepers = new ArrayDeque<>();
  private final ArrayDeque<Delivery> waiting = new ArrayDeque<>();
  private final KeyLines lines = new KeyLines();
  private final Signal room;
  private final long mostBytes;
  private volatile int messages;
  private volatile long bytes;
  private volatile int idle;
  private volatile int wakeAt;
  private volatile boolean closed;

  /**
   * @param room set when so few messages are left that more should be claimed, or when a handler is
   *     idle
   * @param mostBytes with how many bytes messages that wait for others of their key are sent away
   */
  LocalQueue(Signal room, long mostBytes) {
    this.room = room;
    this.mostBytes = mostBytes;
  }

  /** How many messages a handler could take. */
  int messages() {
    return messages;
  }

  /** How many bytes are at hand, also of messages that wait for others of their key. */
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

  /** A claim is about to be sent. */
  void beginClaim() {
    lock();
    try {
      lines.beginClaim();
    } finally {
      lock.unlock();
    }
  }

  /** The claim has arrived; before what it has taken is added. */
  void endClaim() {
    lock();
    try {
      lines.endClaim();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Adds the work that one claim has brought, all at once: nothing of it is begun before what
   * follows it is known. Once the queue is closed, that leaves it unbegun.
   *
   * @return what can't be begun before others that this session doesn't hold
   */
  List<Delivery> add(List<Work> claimed) {
    lock();
    try {
      if (closed) {
        return List.of();
      }
      int before = waiting.size();
      List<Delivery> putAside = new ArrayList<>();
      for (Delivery delivery : claimed.stream().flatMap(w -> w.deliveries().stream()).toList()) {
        switch (lines.enter(delivery, bytes < mostBytes)) {
          case NOW -> waiting.add(delivery);
          case LATER -> {}
          case ELSEWHERE -> {
            putAside.add(delivery);
            continue;
          }
        }
        bytes += delivery.bytes();
      }
      signal(waiting.size() - before);
      return putAside;
    } finally {
      lock.unlock();
    }
  }

  /**
   * A delivery has ended: the next of its key may be handed out.
   *
   * @return what can't be begun any more before this one is over
   */
  List<Delivery> end(Delivery delivery, Verdict verdict) {
    lock();
    try {
      return apply(lines.leave(delivery, verdict));
    } finally {
      lock.unlock();
    }
  }

  /**
   * The session is rid of this work.
   *
   * @return as {@link #end}
   */
  List<Delivery> forget(Work work) {
    lock();
    try {
      return apply(lines.gone(work));
    } finally {
      lock.unlock();
    }
  }

  private List<Delivery> apply(KeyLines.Change change) {
    if (closed) {
      return List.of();
    }
    for (Delivery away : change.putAside()) {
      bytes -= away.bytes();
    }
    for (Delivery away : change.dropped()) {
      bytes -= away.bytes();
    }
    // in front: so that their ranges end soon
    List<Delivery> next = change.next();
    for (int i = next.size() - 1; i >= 0; i--) {
      waiting.addFirst(next.get(i));
    }
    signal(next.size());
    return change.putAside();
  }

  /** So many have become ready. */
  private void signal(int ready) {
    messages = waiting.size();
    for (int woken = 0; woken < ready && woken < idle; woken++) {
      wakeOne();
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
