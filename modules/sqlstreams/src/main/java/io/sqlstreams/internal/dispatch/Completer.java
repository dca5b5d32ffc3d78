package io.sqlstreams.internal.dispatch;

import io.sqlstreams.error.SqlStreamsException;
import io.sqlstreams.internal.lifecycle.Loop;
import io.sqlstreams.internal.outcome.Judge;
import io.sqlstreams.internal.outcome.Outcomes;
import io.sqlstreams.internal.outcome.Verdict;
import io.sqlstreams.internal.wake.Signal;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Records what has ended, as much in one statement as has come together meanwhile. A statement that
 * fails is tried again with the same results: each is guarded by its token, so none counts twice.
 */
final class Completer {
  private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(60);

  private final Outcomes outcomes;
  private final Holdings holdings;
  private final LocalQueue queue;
  private final Judge judge;
  private final Counters counters;
  private final Runnable recorded;
  private final Queue<Work> ended = new ConcurrentLinkedQueue<>();
  private final Signal news = new Signal();
  private final List<Work> batch = new ArrayList<>();
  private final Loop loop;
  private volatile boolean started;

  /**
   * @param recorded is run after results were recorded
   */
  Completer(
      String name,
      Outcomes outcomes,
      Holdings holdings,
      LocalQueue queue,
      Judge judge,
      Counters counters,
      Runnable recorded) {
    this.outcomes = outcomes;
    this.holdings = holdings;
    this.queue = queue;
    this.judge = judge;
    this.counters = counters;
    this.recorded = recorded;
    this.loop = new Loop(name, this::turn);
  }

  /** A delivery has ended. */
  void end(Delivery delivery, Verdict verdict) {
    note(delivery, verdict);
    // after that, so that the next one's result can't be recorded before this one's
    putAside(queue.end(delivery, verdict));
  }

  /** These can't be begun now: they wait in the exception queue for others of their keys. */
  void putAside(List<Delivery> deliveries) {
    deliveries.forEach(delivery -> note(delivery, judge.deferred(delivery.tries())));
  }

  private void note(Delivery delivery, Verdict verdict) {
    if (delivery.work().end(delivery, verdict)) {
      add(delivery.work());
    }
  }

  /** Work whose last delivery has ended, or which is lost. */
  void add(Work work) {
    ended.add(work);
    if (!started) {
      // a session that handles nothing needs no thread for results
      started = true;
      loop.start();
    }
    news.set();
  }

  /**
   * Ends the thread, then records what is left: what has ended, and what was begun of the rest,
   * whose remainder is given back. Fails when the database does.
   */
  void stop(List<Work> rest) {
    loop.requestStop();
    news.set();
    loop.stop();
    drain();
    batch.addAll(rest);
    // what follows other work is recorded after it
    do {
      record(recordable());
    } while (!recordable().isEmpty());
  }

  private void turn() throws InterruptedException {
    if (recordable().isEmpty()) {
      news.await(IDLE_NANOS);
    }
    drain();
    List<Work> works = recordable();
    if (!works.isEmpty()) {
      record(works);
    }
  }

  /** What doesn't have to wait for the results of other work. */
  private List<Work> recordable() {
    batch.stream().filter(Work::followsLost).forEach(Work::lose);
    return batch.stream().filter(work -> work.isLost() || !work.mustWait()).toList();
  }

  private void drain() {
    for (Work work = ended.poll(); work != null; work = ended.poll()) {
      batch.add(work);
    }
  }

  private void record(List<Work> works) {
    List<Work> lost = works.stream().filter(Work::isLost).toList();
    settle(lost, work -> false);
    // should that fail, their leases run out
    outcomes.finish(lost.stream().filter(Work::isToGiveBack).map(Work::unfinishedRange).toList());
    List<Work> held = works.stream().filter(work -> !work.isLost()).toList();
    @Nullable SqlStreamsException refused = null;
    try {
      record(held.stream().filter(Work::isRange).toList(), this::recordRanges);
    } catch (SqlStreamsException e) {
      if (e.retryable()) {
        throw e;
      }
      // a range that can't be recorded must not hold up the exceptions
      refused = e;
    }
    record(held.stream().filter(work -> !work.isRange()).toList(), this::recordExceptions);
    recorded.run();
    if (refused != null) {
      throw refused;
    }
  }

  /**
   * All in one statement; when the database refuses that, each by itself, so that one can't hold up
   * the others.
   */
  private void record(List<Work> works, Consumer<List<Work>> statement) {
    try {
      statement.accept(works);
    } catch (SqlStreamsException e) {
      if (e.retryable() || works.size() < 2) {
        throw e;
      }
      recordEach(works, statement);
    }
  }

  private static void recordEach(List<Work> works, Consumer<List<Work>> statement) {
    @Nullable SqlStreamsException refused = null;
    for (Work work : works) {
      try {
        statement.accept(List.of(work));
      } catch (SqlStreamsException e) {
        refused = e;
      }
    }
    if (refused != null) {
      throw refused;
    }
  }

  private void recordRanges(List<Work> ranges) {
    Set<UUID> held = outcomes.finish(ranges.stream().map(Work::finishedRange).toList());
    settle(ranges, work -> held.contains(work.token()));
  }

  private void recordExceptions(List<Work> exceptions) {
    Set<Long> held =
        outcomes.finishExceptions(exceptions.stream().map(Work::finishedException).toList());
    settle(exceptions, work -> held.contains(work.deliveries().get(0).id()));
  }

  /** Takes work off the batch, so that a failure of the next statement doesn't repeat this one. */
  private void settle(List<Work> works, Predicate<Work> held) {
    for (Work work : works) {
      if (held.test(work)) {
        counters.recorded(work.verdicts());
      } else {
        counters.leaseLost.increment();
      }
      work.settle(held.test(work));
      holdings.remove(work);
      putAside(queue.forget(work));
    }
    batch.removeAll(works);
  }
}
