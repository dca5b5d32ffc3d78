package io.sqlstreams.internal.lifecycle;

import io.sqlstreams.error.SqlStreamsException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thread that does one thing again and again. A turn that fails is logged and tried again after a
 * pause that grows up to five seconds, so a fault of the database never ends it. Stopping is
 * idempotent, works before the start, and returns when the thread has ended.
 */
public final class Loop {
  private static final Logger log = LoggerFactory.getLogger(Loop.class);
  private static final Duration FIRST_PAUSE = Duration.ofMillis(50);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);

  /** One turn. */
  @FunctionalInterface
  public interface Turn {
    /** Does it; waits by itself when there is nothing to do. */
    void run() throws InterruptedException;
  }

  private final String name;
  private final Turn turn;
  private final Thread thread;
  private final CountDownLatch stopping = new CountDownLatch(1);
  private boolean started;

  public Loop(String name, Turn turn) {
    this.name = name;
    this.turn = turn;
    this.thread = new Thread(this::run, name);
    this.thread.setDaemon(true);
  }

  /** Begins, unless it was begun or stopped before. */
  public synchronized void start() {
    if (!started && !isStopping()) {
      started = true;
      thread.start();
    }
  }

  /** Lets the turn that runs be the last; doesn't wait for its end. */
  public void requestStop() {
    stopping.countDown();
  }

  /** Whether a stop was asked for. */
  public boolean isStopping() {
    return stopping.getCount() == 0;
  }

  /** Lets the turn that runs be the last, and waits for its end, unless it is itself that asks. */
  public void stop() {
    requestStop();
    synchronized (this) {
      if (!started) {
        return;
      }
    }
    if (Thread.currentThread() != thread) {
      Uninterruptibly.join(thread);
    }
  }

  /** Interrupts the turn that runs. */
  public void interrupt() {
    thread.interrupt();
  }

  /**
   * Waits for the end of the last turn, after {@link #requestStop}, but no longer than this.
   *
   * @return whether it has ended
   */
  public boolean awaitStopped(long nanos) {
    synchronized (this) {
      if (!started) {
        return true;
      }
    }
    long end = System.nanoTime() + nanos;
    Uninterruptibly.run(
        () -> {
          // 0 would be for ever
          long millis = Math.max(1, TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime()));
          thread.join(millis);
        });
    return !thread.isAlive();
  }

  /** Whether this is its thread. */
  public boolean isCurrentThread() {
    return Thread.currentThread() == thread;
  }

  private void run() {
    Duration pause = FIRST_PAUSE;
    while (!isStopping()) {
      try {
        turn.run();
        pause = FIRST_PAUSE;
      } catch (InterruptedException e) {
        if (!isStopping()) {
          log.warn("{} was interrupted and ends", name);
        }
        return;
      } catch (RuntimeException | Error e) {
        report(e, pause);
        if (!await(pause)) {
          return;
        }
        pause = longer(pause);
      }
    }
  }

  private void report(Throwable e, Duration pause) {
    if (e instanceof SqlStreamsException known) {
      log.warn("{}: {}; next try in {} ms", name, known.getMessage(), pause.toMillis());
    } else {
      log.error("{} failed; next try in {} ms", name, pause.toMillis(), e);
    }
  }

  /**
   * Waits, with a fifth of chance so that many processes don't come back together; false when it is
   * to end.
   */
  private boolean await(Duration pause) {
    long nanos = (long) (pause.toNanos() * (0.8 + 0.4 * ThreadLocalRandom.current().nextDouble()));
    try {
      return !stopping.await(nanos, TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      return false;
    }
  }

  private static Duration longer(Duration pause) {
    Duration twice = pause.multipliedBy(2);
    return twice.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : twice;
  }
}
