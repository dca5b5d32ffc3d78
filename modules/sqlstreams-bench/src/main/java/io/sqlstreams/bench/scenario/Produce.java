package io.sqlstreams.bench.scenario;

import io.sqlstreams.bench.load.Crew;
import io.sqlstreams.bench.load.PayloadForm;
import io.sqlstreams.bench.load.Quota;
import io.sqlstreams.config.ProduceOptions;
import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

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
    BATCHES("produce", BATCHERS, Producing.BATCH, false, 300_000),
    /** Small batches. */
    SMALL_BATCHES("produce-small", BATCHERS, SMALL, false, 150_000),
    /** Single messages, which the client commits together. */
    SINGLE("produce-single", SINGLES, 1, false, 60_000),
    /** Large batches, each message with an idempotency key of its own. */
    ONCE_IN_BATCHES("idempotent", BATCHERS, Producing.BATCH, true, 300_000),
    /** Small batches with such keys. */
    ONCE_IN_SMALL_BATCHES("idempotent-small", BATCHERS, SMALL, true, 150_000),
    /** Single messages with such keys. */
    ONCE_SINGLE("idempotent-single", SINGLES, 1, true, 60_000);

    private final String scenario;
    private final int threads;
    private final int batch;
    private final boolean idempotent;
    private final long messages;

    Way(String scenario, int threads, int batch, boolean idempotent, long messages) {
      this.scenario = scenario;
      this.threads = threads;
      this.batch = batch;
      this.idempotent = idempotent;
      this.messages = messages;
    }

    private String description() {
      return (batch > 1 ? "produceAll of " + batch : "single produce calls")
          + " from "
          + threads
          + " threads, "
          + (idempotent ? "an idempotency key each, " : "")
          + "no consumer";
    }

    /** What goes with each message of a round. */
    private Supplier<ProduceOptions> options() {
      if (!idempotent) {
        return ProduceOptions::defaults;
      }
      AtomicLong number = new AtomicLong();
      return () ->
          ProduceOptions.defaults().withIdempotencyKey("order-" + number.getAndIncrement());
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
        bench, cargo, new Producing<>(cargo, quota, way.options()), quota, way);
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
