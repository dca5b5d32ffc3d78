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
 * @param way in batches or one by one, with idempotency keys or without
 */
record Produce(PayloadForm form, Way way) implements Scenario {
  /** Threads that hand over lists. */
  private static final int BATCHERS = 2;

  /** Threads that call with one message: enough for many to be committed together. */
  private static final int SINGLES = 64;

  /** A list that is written by INSERT; {@link Producing#BATCH} is written by COPY. */
  private static final int SMALL = 100;

  /** How is produced. */
  enum Way {
    /** Large batches. */
    BATCHES("produce", BATCHERS, Producing.BATCH, 300_000, Goods.PLAIN),
    /** Small batches. */
    SMALL_BATCHES("produce-small", BATCHERS, SMALL, 150_000, Goods.PLAIN),
    /** Single messages, which the client commits together. */
    SINGLE("produce-single", SINGLES, 1, 60_000, Goods.PLAIN),
    /** Large batches, each message with an idempotency key of its own. */
    ONCE_IN_BATCHES("idempotent", BATCHERS, Producing.BATCH, 300_000, Goods.IDEMPOTENT),
    /** Small batches with such keys. */
    ONCE_IN_SMALL_BATCHES("idempotent-small", BATCHERS, SMALL, 150_000, Goods.IDEMPOTENT),
    /** Single messages with such keys. */
    ONCE_SINGLE("idempotent-single", SINGLES, 1, 60_000, Goods.IDEMPOTENT),
    /** Large batches with message keys, which have an index. */
    KEYED("produce-keyed", BATCHERS, Producing.BATCH, 300_000, Goods.KEYED),
    /** The same, compacted. */
    COMPACTED("produce-compacted", BATCHERS, Producing.BATCH, 300_000, Goods.COMPACTED),
    /** The same at one key. */
    HOT("produce-hot-key", BATCHERS, Producing.BATCH, 300_000, Goods.HOT),
    /** Single messages, compacted. */
    SINGLE_COMPACTED("produce-single-compacted", SINGLES, 1, 60_000, Goods.COMPACTED),
    /** The same at one key. */
    SINGLE_HOT("produce-single-hot-key", SINGLES, 1, 60_000, Goods.HOT);

    private final String scenario;
    private final int threads;
    private final int batch;
    private final long messages;
    private final Goods goods;

    Way(String scenario, int threads, int batch, long messages, Goods goods) {
      this.scenario = scenario;
      this.threads = threads;
      this.batch = batch;
      this.messages = messages;
      this.goods = goods;
    }

    private String description() {
      return (batch > 1 ? "produceAll of " + batch : "single produce calls")
          + " from "
          + threads
          + " threads, "
          + goods.words()
          + "no consumer";
    }
  }

  @Override
  public String name() {
    return way.scenario;
  }

  @Override
  public String description() {
    return way.description();
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
    return new ProduceTrial<>(
        bench, cargo, new Producing<>(cargo, quota, way.goods.options()), quota, way);
  }

  private record ProduceTrial<T>(
      Workbench bench, Cargo<T> cargo, Producing<T> producing, Quota quota, Way way)
      implements Trial {
    @Override
    public Work run() throws Exception {
      Callable<Void> member =
          () -> {
            if (way.batch > 1) {
              producing.inBatches(way.batch);
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
