package io.sqlstreams.internal.dispatch;

import io.sqlstreams.internal.lifecycle.HandlerThreads;
import io.sqlstreams.internal.lifecycle.Loop;
import io.sqlstreams.internal.lifecycle.Uninterruptibly;
import io.sqlstreams.internal.outcome.Verdict;
import io.sqlstreams.internal.wake.Signal;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The threads that run the handler, and the watch over their time. They are begun with the first
 * message: a process may consume from thousands of streams in which little happens. A handler whose
 * time is over is interrupted; if it doesn't return within the grace, its message has failed, the
 * thread is abandoned, and another one takes its place.
 */
final class HandlerPool {
  private static final Logger log = LoggerFactory.getLogger(HandlerPool.class);
  private static final long LONGEST_WATCH_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(60);

  /** After how many looks at idle handlers the watch sleeps. */
  private static final int IDLE_LOOKS = 10;

  private static final long SHORTEST_WATCH_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private final String name;
  private final LocalQueue queue;
  private final Runner runner;
  private final Completer completer;
  private final Pace pace;
  private final Counters counters;
  private final ThreadFactory threads;
  private final ThreadFactory replacements;
  private final int handlers;
  private final Set<Worker> workers = ConcurrentHashMap.newKeySet();
  private final Set<Worker> atWork = ConcurrentHashMap.newKeySet();
  private final Signal rested = new Signal();
  private final Signal hurry = new Signal();
  private final Loop watch;
  private volatile boolean started;
  private volatile boolean watchSleeps;
  private int idleLooks;

  /**
   * @param handlers how many threads
   */
  HandlerPool(String name, int handlers, Runner runner, SessionParts parts, Pace pace) {
    this.name = name;
    this.handlers = handlers;
    this.runner = runner;
    this.queue = parts.queue();
    this.completer = parts.completer();
    this.counters = parts.counters();
    this.pace = pace;
    this.threads = HandlerThreads.named(name + "-handler-");
    this.replacements = HandlerThreads.platform(name + "-replacement-");
    this.watch = new Loop(name + "-watch", this::watch);
  }

  /** Begins, unless it was begun before; for one thread. */
  void start() {
    if (started) {
      return;
    }
    started = true;
    for (int i = 0; i < handlers; i++) {
      start(new Worker(threads));
    }
    watch.start();
  }

  /** How many handlers could take a message now. */
  int idle() {
    return started ? queue.idle() : handlers;
  }

  /** Whether this thread is one that runs handlers. */
  boolean isHandler(Thread thread) {
    return workers.stream().anyMatch(worker -> worker.thread == thread);
  }

  /**
   * Waits until every handler that is at work has returned or was abandoned; the queue must be
   * closed before, so that none begins anything more. An idle one isn't waited for: a virtual
   * thread can't even end while abandoned ones spin for ever on every carrier.
   */
  void stop() {
    Uninterruptibly.run(this::awaitRest);
    watch.requestStop();
    hurry.set();
    watch.stop();
  }

  private void awaitRest() throws InterruptedException {
    while (!atWork.isEmpty()) {
      rested.await(LONGEST_WATCH_NANOS);
    }
  }

  private void rests(Worker worker) {
    atWork.remove(worker);
    rested.set();
  }

  private void start(Worker worker) {
    workers.add(worker);
    worker.thread.start();
  }

  /**
   * Another thread in place of an abandoned one. Not a virtual one: the abandoned thread may be
   * what keeps their carrier busy.
   */
  private void replace(Worker worker) {
    workers.remove(worker);
    rests(worker);
    if (!queue.isClosed()) {
      start(new Worker(replacements));
    }
  }

  private void watch() throws InterruptedException {
    long wait = LONGEST_WATCH_NANOS;
    idleLooks++;
    for (Worker worker : workers) {
      Attempt attempt = worker.current;
      if (attempt != null) {
        watch(worker, attempt);
        wait = Math.min(wait, attempt.nanosToDeadline());
        idleLooks = 0;
      }
    }
    if (idleLooks < IDLE_LOOKS) {
      hurry.await(Math.max(SHORTEST_WATCH_NANOS, wait));
    } else {
      sleep();
    }
  }

  /** Until a handler begins. */
  private void sleep() throws InterruptedException {
    watchSleeps = true;
    // one may have begun before it could see that
    if (workers.stream().allMatch(worker -> worker.current == null)) {
      hurry.await(IDLE_NANOS);
    }
    watchSleeps = false;
  }

  private void watch(Worker worker, Attempt attempt) {
    long over = attempt.nanosSinceBegin() - attempt.timeout().toNanos();
    if (over >= 0) {
      attempt.interrupt();
    }
    if (over >= Attempt.GRACE.toNanos() && attempt.abandon()) {
      log.warn(
          "{}: {} ignores the end of its time after {}; its thread is abandoned until it returns",
          name,
          attempt.what(),
          attempt.timeout());
      counters.abandoned.increment();
      try {
        attempt.reportAbandoned();
      } finally {
        replace(worker);
      }
    }
  }

  /** One thread that takes messages until the queue is closed, or until it is abandoned. */
  private final class Worker implements Runnable, Desk {
    private final Thread thread;
    private volatile @Nullable Attempt current;

    Worker(ThreadFactory threads) {
      this.thread = threads.newThread(this);
    }

    @Override
    public void run() {
      boolean abandoned = false;
      try {
        List<Delivery> taken = take();
        while (taken != null && !abandoned) {
          abandoned = !handle(taken);
          taken = abandoned ? null : take();
        }
      } finally {
        workers.remove(this);
        if (abandoned) {
          counters.abandoned.decrement();
        } else {
          rests(this);
        }
      }
    }

    private @Nullable List<Delivery> take() {
      rests(this);
      return queue.take(runner.most(), () -> atWork.add(this));
    }

    /** Whether the thread still belongs to the pool afterwards. */
    private boolean handle(List<Delivery> deliveries) {
      if (deliveries.get(0).work().mayBegin()) {
        try {
          return runner.run(deliveries, this);
        } catch (Throwable e) {
          return giveUp(deliveries, e);
        }
      }
      deliveries.forEach(delivery -> completer.end(delivery, Verdict.unbegun(delivery.tries())));
      return true;
    }

    /**
     * No handler's error comes here: the JVM is out of memory, or this library is wrong. The work
     * goes the way of a dead process's: its lease runs out, and somebody takes over.
     */
    private boolean giveUp(List<Delivery> deliveries, Throwable e) {
      log.error("{}: message {} could not be handled", name, deliveries.get(0).id(), e);
      Attempt attempt = current;
      if (attempt != null && !end(attempt)) {
        return false;
      }
      deliveries.get(0).work().lose();
      completer.add(deliveries.get(0).work());
      return true;
    }

    @Override
    public Attempt begin(List<Delivery> deliveries, Duration timeout, Attempt.Owner owner) {
      Attempt attempt = new Attempt(deliveries, timeout, thread, owner);
      current = attempt;
      if (watchSleeps || timeout.toNanos() < LONGEST_WATCH_NANOS) {
        hurry.set();
      }
      return attempt;
    }

    @Override
    public boolean end(Attempt attempt) {
      boolean counts = attempt.end();
      current = null;
      if (counts) {
        pace.handled(attempt.nanosSinceBegin(), attempt.deliveries().size());
      }
      return counts;
    }
  }
}
