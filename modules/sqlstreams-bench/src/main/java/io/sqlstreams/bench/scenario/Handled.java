package io.sqlstreams.bench.scenario;

import io.sqlstreams.Consumption;
import io.sqlstreams.Message;
import io.sqlstreams.Outcome;
import io.sqlstreams.bench.BenchException;
import io.sqlstreams.bench.load.IdSet;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/** The handler of a round, and what has been handled so far. Thread-safe. */
final class Handled {
  /** Longer than a lease: what a consumer lost has come back by then. */
  static final Duration STALLED_AFTER = Duration.ofSeconds(60);

  private final IdSet ids = new IdSet();
  private final LongAdder repeated = new LongAdder();
  private final CountDownLatch complete = new CountDownLatch(1);
  private volatile long wanted = Long.MAX_VALUE;
  private volatile long completedAt;

  /** Handles a message: notes its id. */
  Outcome handle(Message<?> message) {
    if (message.payload() == null) {
      throw new BenchException("message " + message.id() + " has no payload");
    }
    long count = ids.add(message.id());
    if (count == 0) {
      repeated.increment();
    } else if (count >= wanted) {
      complete();
    }
    return Outcome.done();
  }

  /**
   * Waits until so many messages have been handled.
   *
   * @return when the last one was, by {@link System#nanoTime()}
   * @throws BenchException when nothing has been handled for {@link #STALLED_AFTER}
   */
  long await(long messages, Consumption consumption) throws InterruptedException {
    wanted = messages;
    if (ids.size() >= messages) {
      complete();
    }
    long before = -1;
    while (!complete.await(STALLED_AFTER.toSeconds(), TimeUnit.SECONDS)) {
      if (ids.size() == before) {
        throw new BenchException(
            "nothing was handled for %d s: %d of %d messages are, %s"
                .formatted(STALLED_AFTER.toSeconds(), before, messages, consumption.counters()));
      }
      before = ids.size();
    }
    return completedAt;
  }

  /** The ids that were handled. */
  IdSet ids() {
    return ids;
  }

  /** How often a message was handled once more. */
  long repeated() {
    return repeated.sum();
  }

  private synchronized void complete() {
    if (complete.getCount() > 0) {
      completedAt = System.nanoTime();
      complete.countDown();
    }
  }
}
