package io.sqlstreams.internal.dispatch;

import io.sqlstreams.ConsumptionCounters;
import io.sqlstreams.internal.outcome.Verdict;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/** The running figures of a consumption. Thread-safe. */
final class Counters {
  final LongAdder claimed = new LongAdder();
  final LongAdder undecodable = new LongAdder();
  final LongAdder timedOut = new LongAdder();
  final LongAdder reclaimed = new LongAdder();
  final LongAdder quarantined = new LongAdder();
  final LongAdder leaseLost = new LongAdder();
  final LongAdder abandoned = new LongAdder();
  final LongAdder dead = new LongAdder();
  final LongAdder deferred = new LongAdder();
  private final LongAdder done = new LongAdder();
  private final LongAdder retried = new LongAdder();
  private final LongAdder delayed = new LongAdder();

  /** The database has taken these results. */
  void recorded(List<Verdict> verdicts) {
    for (Verdict verdict : verdicts) {
      if (verdict.isDone()) {
        done.increment();
      } else if (verdict.isDead()) {
        dead.increment();
      } else if (verdict.status() == Verdict.Status.DEFERRED) {
        deferred.increment();
      } else if (verdict.event() == Verdict.Event.DELAYED) {
        delayed.increment();
      } else if (verdict.event() != null) {
        retried.increment();
      }
    }
  }

  ConsumptionCounters snapshot() {
    return new ConsumptionCounters(
        claimed.sum(),
        done.sum(),
        retried.sum(),
        delayed.sum(),
        dead.sum(),
        deferred.sum(),
        undecodable.sum(),
        timedOut.sum(),
        reclaimed.sum(),
        quarantined.sum(),
        leaseLost.sum(),
        abandoned.sum());
  }
}
