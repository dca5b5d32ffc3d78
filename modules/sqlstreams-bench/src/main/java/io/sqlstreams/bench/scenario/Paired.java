package io.sqlstreams.bench.scenario;

import io.sqlstreams.ConsumerGroup;
import io.sqlstreams.Consumption;
import io.sqlstreams.ConsumptionCounters;
import io.sqlstreams.bench.BenchException;
import io.sqlstreams.bench.load.PayloadForm;
import io.sqlstreams.bench.load.Quota;
import java.time.Duration;
import java.util.Map;

/**
 * Producing and consuming at the same time, until every message has been handled.
 *
 * @param form how payloads are handed over
 */
record Paired(PayloadForm form) implements Scenario {
  @Override
  public String name() {
    return "paired";
  }

  @Override
  public String description() {
    return "produceAll of "
        + Producing.BATCH
        + " from 1 thread, 1 consumer group at the same time, until all is handled";
  }

  @Override
  public long messages() {
    return 300_000;
  }

  @Override
  public Trial prepare(Workbench bench, Quota quota) {
    return trial(bench, Cargo.register(bench, bench.newName(this), form), quota);
  }

  private static <T> Trial trial(Workbench bench, Cargo<T> cargo, Quota quota) {
    ConsumerGroup<T> group = cargo.stream().group("handled");
    group.register();
    return new PairedTrial<>(
        bench, cargo, group, new Producing<>(cargo, quota), new Handled(), quota);
  }

  private record PairedTrial<T>(
      Workbench bench,
      Cargo<T> cargo,
      ConsumerGroup<T> group,
      Producing<T> producing,
      Handled handled,
      Quota quota)
      implements Trial {
    @Override
    public Work run() throws Exception {
      ConsumptionCounters counters;
      Duration elapsed;
      Consumption consumption = group.consume(handled::handle, bench.consuming());
      try (consumption) {
        quota.start();
        long begin = System.nanoTime();
        producing.inBatches();
        long end = handled.await(producing.ids().size(), consumption);
        elapsed = Duration.ofNanos(end - begin);
      }
      counters = consumption.counters();
      requireClean(counters);
      return new Work(
          producing.ids().size(),
          elapsed,
          producing.callMicros(),
          Map.of(
              "handledAgain", handled.repeated(),
              "reclaimed", counters.reclaimed(),
              "leaseLost", counters.leaseLost()));
    }

    /** A message may come twice; nothing else may go wrong with a handler that does nothing. */
    private static void requireClean(ConsumptionCounters counters) {
      if (counters.retried() + counters.dead() + counters.undecodable() + counters.timedOut() > 0) {
        throw new BenchException("deliveries failed: " + counters);
      }
    }

    @Override
    public void verify() throws Exception {
      long lost = producing.ids().missingIn(handled.ids());
      long unknown = handled.ids().missingIn(producing.ids());
      if (lost > 0 || unknown > 0) {
        throw new BenchException(
            lost
                + " messages were never handled, and "
                + unknown
                + " handled that nobody produced");
      }
      bench.verifyLog(bench.logOf(cargo.stream()), producing.ids().size());
    }

    @Override
    public void close() {
      cargo.stream().destroy();
    }
  }
}
