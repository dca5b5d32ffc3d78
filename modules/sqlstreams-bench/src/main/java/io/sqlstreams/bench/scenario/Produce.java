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
        "produce", "produceAll of " + Producing.BATCH + " from 2 threads, no consumer", Keys.NONE),
    /** The same with message keys, which have an index. */
    KEYED("produce-keyed", "produce with 100,000 message keys", Keys.MANY),
    /** The same, compacted. */
    COMPACTED("produce-compacted", "produce, compacted, at 100,000 keys", Keys.MANY_COMPACTED),
    /** The same at one key. */
    HOT("produce-hot-key", "produce, compacted, at one key", Keys.ONE_COMPACTED),
    /** Single messages, which the client commits together. */
    SINGLES(
        "produce-single",
        "single produce calls from 64 threads, no consumer",
        64,
        60_000,
        Keys.NONE),
    /** The same, compacted. */
    SINGLES_COMPACTED(
        "produce-single-compacted",
        "produce-single, compacted, at 100,000 keys",
        64,
        60_000,
        Keys.MANY_COMPACTED),
    /** The same at one key. */
    SINGLES_HOT(
        "produce-single-hot-key",
        "produce-single, compacted, at one key",
        64,
        60_000,
        Keys.ONE_COMPACTED);

    private final String scenario;
    private final String description;
    private final int threads;
    private final long messages;
    private final Keys keys;

    Way(String scenario, String description, Keys keys) {
      this(scenario, description, 2, 300_000, keys);
    }

    Way(String scenario, String description, int threads, long messages, Keys keys) {
      this.scenario = scenario;
      this.description = description;
      this.threads = threads;
      this.messages = messages;
      this.keys = keys;
    }

    boolean isInBatches() {
      return threads == 2;
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
    return new ProduceTrial<>(bench, cargo, new Producing<>(cargo, quota, way.keys), quota, way);
  }

  private record ProduceTrial<T>(
      Workbench bench, Cargo<T> cargo, Producing<T> producing, Quota quota, Way way)
      implements Trial {
    @Override
    public Work run() throws Exception {
      Callable<Void> member =
          () -> {
            if (way.isInBatches()) {
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
