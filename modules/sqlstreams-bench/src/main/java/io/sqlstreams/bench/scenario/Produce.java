package io.sqlstreams.bench.scenario;

import io.sqlstreams.bench.load.Crew;
import io.sqlstreams.bench.load.PayloadForm;
import io.sqlstreams.bench.load.Quota;
import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.concurrent.Callable;

/**
 * Producing alone.
 *
 * @param form how payloads are handed over
 * @param way in large batches, or one by one
 */
record Produce(PayloadForm form, Way way) implements Scenario {
  /** How is produced. */
  enum Way {
    /** Large batches. */
    BATCHES(
        "produce", "produceAll of " + Producing.BATCH + " from 2 threads, no consumer", 2, 300_000),
    /** Single messages, which the client commits together. */
    SINGLES("produce-single", "single produce calls from 64 threads, no consumer", 64, 60_000);

    private final String scenario;
    private final String description;
    private final int threads;
    private final long messages;

    Way(String scenario, String description, int threads, long messages) {
      this.scenario = scenario;
      this.description = description;
      this.threads = threads;
      this.messages = messages;
    }
  }

  @Override
  public String name() {
    return way.scenario;
  }

  @Override
  public String description() {
    return way.description;
  }

  @Override
  public long messages() {
    return way.messages;
  }

  @Override
  public Trial prepare(Workbench bench, Quota quota) {
    return trial(bench, Cargo.register(bench, bench.newName(this), form), quota);
  }

  private <T> Trial trial(Workbench bench, Cargo<T> cargo, Quota quota) {
    return new ProduceTrial<>(bench, cargo, new Producing<>(cargo, quota), quota, way);
  }

  private record ProduceTrial<T>(
      Workbench bench, Cargo<T> cargo, Producing<T> producing, Quota quota, Way way)
      implements Trial {
    @Override
    public Work run() throws Exception {
      Callable<Void> member =
          () -> {
            if (way == Way.BATCHES) {
              producing.inBatches();
            } else {
              producing.oneByOne();
            }
            return null;
          };
      quota.start();
      long begin = System.nanoTime();
      Crew.run(Collections.nCopies(way.threads, member));
      Duration elapsed = Duration.ofNanos(System.nanoTime() - begin);
      return new Work(producing.ids().size(), elapsed, producing.callMicros(), Map.of());
    }

    @Override
    public void verify() throws Exception {
      bench.verifyLog(bench.logOf(cargo.stream()), producing.ids().size());
    }

    @Override
    public void close() {
      cargo.stream().destroy();
    }
  }
}
