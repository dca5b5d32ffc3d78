package io.sqlstreams.bench.scenario;

import io.sqlstreams.ConsumerGroup;
import io.sqlstreams.Consumption;
import io.sqlstreams.ConsumptionCounters;
import io.sqlstreams.bench.BenchException;
import io.sqlstreams.bench.load.PayloadForm;
import io.sqlstreams.bench.load.Quota;
import io.sqlstreams.config.Concurrency;
import io.sqlstreams.config.DeliveryLogMode;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.RetryPolicy;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Producing and consuming at the same time, until every message has been handled.
 *
 * @param form how payloads are handed over
 * @param kind what is special about the consuming
 */
record Paired(PayloadForm form, Kind kind) implements Scenario {
  /** What is special about the consuming. */
  enum Kind {
    /** Nothing. */
    PLAIN("paired", "", DeliveryLogMode.FAILURES),
    /** Some messages fail the first time. */
    FAILING("failing", ", 5 % fail once", DeliveryLogMode.FAILURES),
    /** Each success leaves a row in the delivery log. */
    LOGGED("logged", ", delivery_log_mode = all", DeliveryLogMode.ALL),
    /** Each message's handler inserts a row in the transaction of its result. */
    TRANSACTIONAL(
        "transactional", ", one INSERT each in its transaction", DeliveryLogMode.FAILURES),
    /** Messages have keys, and nobody cares. */
    KEYED(Concurrency.PARALLEL, 100_000, 1),
    /** The messages of a key come in their order. */
    ORDERED_FEW(Concurrency.ORDERED, 10, 1),
    /** The same with more keys. */
    ORDERED_MORE(Concurrency.ORDERED, 1_000, 1),
    /** The same with many keys. */
    ORDERED_MANY(Concurrency.ORDERED, 100_000, 1),
    /** The same in two sessions, so that the database keeps the order between them. */
    ORDERED_MORE_BY_TWO(Concurrency.ORDERED, 1_000, 2),
    /** The same with many keys. */
    ORDERED_MANY_BY_TWO(Concurrency.ORDERED, 100_000, 2),
    /** The messages of a key are handled one at a time. */
    EXCLUSIVE_FEW(Concurrency.EXCLUSIVE, 10, 1),
    /** The same with more keys. */
    EXCLUSIVE_MORE(Concurrency.EXCLUSIVE, 1_000, 1),
    /** The same with many keys. */
    EXCLUSIVE_MANY(Concurrency.EXCLUSIVE, 100_000, 1);

    private final String scenario;
    private final String addition;
    private final DeliveryLogMode deliveryLog;
    private final Concurrency concurrency;
    private final int keys;
    private final int sessions;

    Kind(String scenario, String addition, DeliveryLogMode deliveryLog) {
      this(scenario, addition, deliveryLog, Concurrency.PARALLEL, 0, 1);
    }

    Kind(Concurrency concurrency, int keys, int sessions) {
      this(
          (concurrency == Concurrency.PARALLEL ? "keyed" : concurrency.sqlName() + "-" + keys)
              + (sessions == 1 ? "" : "-by-" + sessions),
          ", %s within %,d keys, %d session(s)".formatted(concurrency.sqlName(), keys, sessions),
          DeliveryLogMode.FAILURES,
          concurrency,
          keys,
          sessions);
    }

    Kind(
        String scenario,
        String addition,
        DeliveryLogMode deliveryLog,
        Concurrency concurrency,
        int keys,
        int sessions) {
      this.scenario = scenario;
      this.addition = addition;
      this.deliveryLog = deliveryLog;
      this.concurrency = concurrency;
      this.keys = keys;
      this.sessions = sessions;
    }

    Supplier<ProduceOptions> options() {
      return keys == 0 ? ProduceOptions::defaults : Goods.keyed(keys);
    }

    GroupConfig group() {
      return GroupConfig.defaults()
          .withDeliveryLog(deliveryLog)
          .withConcurrency(concurrency)
          .withRetry(RetryPolicy.defaults().withInitialBackoff(Duration.ofMillis(100)));
    }
  }

  /** One message of so many fails. */
  private static final int FAILS_ONE_OF = 20;

  @Override
  public String name() {
    return kind.scenario;
  }

  @Override
  public String description() {
    return "produceAll of "
        + Producing.BATCH
        + " from 1 thread, 1 consumer group at the same time, until all is handled"
        + kind.addition;
  }

  @Override
  public long messages() {
    return 300_000;
  }

  @Override
  public Trial prepare(Workbench bench, Quota quota) {
    return trial(bench, Cargo.register(bench, bench.newName(this), form), quota);
  }

  private <T> Trial trial(Workbench bench, Cargo<T> cargo, Quota quota) {
    ConsumerGroup<T> group = cargo.stream().group("handled");
    group.register(kind.group());
    return new PairedTrial<>(
        kind,
        bench,
        cargo,
        group,
        new Producing<>(cargo, quota, kind.options()),
        new Handled(),
        quota);
  }

  private record PairedTrial<T>(
      Kind kind,
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
      Consumption consumption = consume();
      try (consumption;
          Consumption other = kind.sessions > 1 ? consume() : null) {
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
              "retried", counters.retried(),
              "reclaimed", counters.reclaimed(),
              "leaseLost", counters.leaseLost(),
              "deferred", counters.deferred()));
    }

    private Consumption consume() throws SQLException {
      if (kind == Kind.TRANSACTIONAL) {
        bench.execute("CREATE TABLE IF NOT EXISTS " + effects() + " (message_id BIGINT NOT NULL)");
        return group.consumeTransactional(
            (message, connection) -> {
              try (PreparedStatement insert =
                  connection.prepareStatement("INSERT INTO " + effects() + " VALUES (?)")) {
                insert.setLong(1, message.id());
                insert.executeUpdate();
              }
              return handled.handle(message);
            },
            bench.consuming());
      }
      return group.consume(
          message -> {
            if (kind == Kind.FAILING
                && message.attempt() == 0
                && message.id() % FAILS_ONE_OF == 0) {
              throw new BenchException("fails the first time");
            }
            return handled.handle(message);
          },
          bench.consuming());
    }

    private String effects() {
      return bench.schema() + ".bench_effects";
    }

    /** A message may come twice; nothing else may go wrong with a handler that does nothing. */
    private void requireClean(ConsumptionCounters counters) {
      long retried = kind == Kind.FAILING ? 0 : counters.retried();
      if (retried + counters.dead() + counters.undecodable() + counters.timedOut() > 0) {
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
    public void close() throws SQLException {
      cargo.stream().destroy();
      bench.execute("DROP TABLE IF EXISTS " + effects());
    }
  }
}
