package io.sqlstreams.internal.dispatch;

import io.sqlstreams.internal.lifecycle.HandlerThreads;
import io.sqlstreams.internal.lifecycle.Loop;
import io.sqlstreams.internal.lifecycle.Uninterruptibly;
import io.sqlstreams.internal.outcome.Verdict;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The threads that run the handler, and the watch over their time. A handler whose time is over is
 * interrupted; if it doesn't return within the grace, its message has failed, the thread is
 * abandoned, and another one takes its place.
 */
final class HandlerPool {
  /** How long an interrupted handler may take to return. */
  static final Duration GRACE = Duration.ofMillis(100);

  private static final Logger log = LoggerFactory.getLogger(HandlerPool.class);
  private static final long LONGEST_WATCH_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final String name;
  private final LocalQueue queue;
  private final Handling<?> handling;
  private final Duration timeout;
  private final Pace pace;
  private final Counters counters;
  private final Consumer<Work> ended;
  private final ThreadFactory threads;
  private final ThreadFactory replacements;
  private final Set<Worker> workers = ConcurrentHashMap.newKeySet();
  private final CountDownLatch open;
  private final Loop watch;
  private volatile boolean started;

  /**
   * @param handlers how many threads
   * @param timeout how long a handler may take
   * @param ended takes work whose last delivery has ended
   */
  HandlerPool(
      String name,
      int handlers,
      LocalQueue queue,
      Handling<?> handling,
      Duration timeout,
      Pace pace,
      Counters counters,
      Consumer<Work> ended) {
    this.name = name;
    this.queue = queue;
    this.handling = handling;
    this.timeout = timeout;
    this.pace = pace;
    this.counters = counters;
    this.ended = ended;
    this.threads = HandlerThreads.named(name + "-handler-");
    this.replacements = HandlerThreads.platform(name + "-replacement-");
    this.open = new CountDownLatch(handlers);
    this.watch = new Loop(name + "-watch", this::watch);
  }

  void start() {
    started = true;
    long handlers = open.getCount();
    for (long i = 0; i < handlers; i++) {
      start(new Worker(threads));
    }
    watch.start();
  }

  /** Whether this thread is one that runs handlers. */
  boolean isHandler(Thread thread) {
    return workers.stream().anyMatch(worker -> worker.thread == thread);
  }

  /** Waits until every handler has returned or was abandoned; the queue must be closed before. */
  void stop() {
    if (started) {
      Uninterruptibly.run(open::await);
    }
    watch.stop();
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
    if (queue.isClosed()) {
      open.countDown();
    } else {
      start(new Worker(replacements));
    }
  }

  private void end(Delivery delivery, Verdict verdict) {
    if (delivery.work().end(delivery, verdict)) {
      ended.accept(delivery.work());
    }
  }

  private void watch() throws InterruptedException {
    for (Worker worker : workers) {
      Attempt attempt = worker.current;
      if (attempt != null) {
        watch(worker, attempt);
      }
    }
    long nanos = Math.max(1_000_000, Math.min(LONGEST_WATCH_NANOS, timeout.toNanos() / 10));
    TimeUnit.NANOSECONDS.sleep(nanos);
  }

  private void watch(Worker worker, Attempt attempt) {
    long over = attempt.nanosSinceBegin() - timeout.toNanos();
    if (over >= 0) {
      attempt.interrupt();
    }
    if (over >= GRACE.toNanos() && attempt.abandon()) {
      Delivery delivery = attempt.delivery();
      log.warn(
          "{}: the handler of message {} ignores the end of its time after {}; its thread is abandoned until it returns",
          name,
          delivery.id(),
          timeout);
      counters.timedOut.increment();
      counters.abandoned.increment();
      end(delivery, handling.failed(delivery, "the handler took longer than " + timeout));
      replace(worker);
    }
  }

  /** One thread that takes messages until the queue is closed, or until it is abandoned. */
  private final class Worker implements Runnable {
    private final Thread thread;
    private volatile @Nullable Attempt current;

    Worker(ThreadFactory threads) {
      this.thread = threads.newThread(this);
    }

    @Override
    public void run() {
      boolean abandoned = false;
      try {
        Delivery delivery = queue.take();
        while (delivery != null && !abandoned) {
          abandoned = !handle(delivery);
          delivery = abandoned ? null : queue.take();
        }
      } finally {
        workers.remove(this);
        if (abandoned) {
          counters.abandoned.decrement();
        } else {
          open.countDown();
        }
      }
    }

    /** Whether the thread still belongs to the pool afterwards. */
    private boolean handle(Delivery delivery) {
      if (!delivery.work().mayBegin()) {
        end(delivery, Verdict.unbegun(delivery.attempt(), delivery.delays()));
        return true;
      }
      Attempt attempt = new Attempt(delivery, thread);
      current = attempt;
      Verdict verdict = handling.handle(delivery);
      boolean counts = attempt.end();
      current = null;
      if (counts) {
        pace.handled(attempt.nanosSinceBegin());
        end(delivery, attempt.wasInterrupted() ? judgeLate(delivery, verdict) : verdict);
      }
      return counts;
    }

    /** The handler was interrupted. If it returned an outcome all the same, that counts. */
    private Verdict judgeLate(Delivery delivery, Verdict verdict) {
      counters.timedOut.increment();
      return verdict.event() == Verdict.Event.FAILURE
          ? handling.failed(
              delivery, "the handler took longer than " + timeout + ", then: " + verdict.error())
          : verdict;
    }
  }
}
