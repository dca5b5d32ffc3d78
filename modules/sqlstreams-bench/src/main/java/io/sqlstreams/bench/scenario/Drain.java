package io.sqlstreams.bench.scenario;

import io.sqlstreams.ConsumerGroup;
import io.sqlstreams.Consumption;
import io.sqlstreams.Outgoing;
import io.sqlstreams.bench.BenchException;
import io.sqlstreams.bench.load.PayloadForm;
import io.sqlstreams.bench.load.Quota;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.ProduceOptions;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;

/**
 * Going over a log that is there already, until the group has passed it. One message of 1,000 has a
 * routing key of its own.
 *
 * @param form how payloads are handed over
 * @param kind how much of it the group reads
 */
record Drain(PayloadForm form, Kind kind) implements Scenario {
  /** How much of the log a group reads. */
  enum Kind {
    /** All of it. */
    WHOLE("drain", "one group that reads all", GroupConfig.defaults()),
    /** What has the rare routing key. */
    SELECTIVE(
        "selective",
        "one group that is bound to 1 of 1,000",
        GroupConfig.defaults().withBindings(RARE));

    private final String scenario;
    private final String description;
    private final GroupConfig group;

    Kind(String scenario, String description, GroupConfig group) {
      this.scenario = scenario;
      this.description = description;
      this.group = group;
    }
  }

  private static final String RARE = "orders.eu.refused";
  private static final int ONE_OF = 1_000;
  private static final int DIGITS = 3;

  @Override
  public String name() {
    return kind.scenario;
  }

  @Override
  public String description() {
    return "a log that is there already, " + kind.description + ", until it has passed all";
  }

  @Override
  public long messages() {
    return 300_000;
  }

  @Override
  public Trial prepare(Workbench bench, Quota quota) throws Exception {
    return trial(bench, Cargo.register(bench, bench.newName(this), form), quota);
  }

  private <T> Trial trial(Workbench bench, Cargo<T> cargo, Quota quota) throws SQLException {
    ConsumerGroup<T> group = cargo.stream().group("drained");
    group.register(kind.group);
    quota.start();
    long written = 0;
    for (int size = quota.take(Producing.BATCH); size > 0; size = quota.take(Producing.BATCH)) {
      List<Outgoing<T>> batch = new ArrayList<>(size);
      for (int i = 0; i < size; i++) {
        written++;
        batch.add(
            Outgoing.of(
                cargo.one(written),
                ProduceOptions.defaults()
                    .withRoutingKey(written % ONE_OF == 0 ? RARE : "orders.eu.placed")));
      }
      cargo.stream().producer().produceAll(batch);
    }
    // as after a while in service: no page waits for its first reader
    bench.execute("VACUUM (ANALYZE) " + bench.logOf(cargo.stream()));
    long wanted = kind == Kind.WHOLE ? written : written / ONE_OF;
    return new DrainTrial<>(bench, cargo, group, written, wanted, new Handled());
  }

  private record DrainTrial<T>(
      Workbench bench,
      Cargo<T> cargo,
      ConsumerGroup<T> group,
      long written,
      long wanted,
      Handled handled)
      implements Trial {
    @Override
    public Work run() throws Exception {
      long begin = System.nanoTime();
      Consumption consumption = group.consume(handled::handle, bench.consuming());
      try (consumption) {
        if (wanted > 0) {
          handled.await(wanted, consumption);
        }
        while (group.snapshot().claimed() < written) {
          if (consumption.awaitStopped(Duration.ofMillis(1))) {
            throw new BenchException("the consumption has stopped: " + consumption.counters());
          }
        }
      }
      Duration elapsed = Duration.ofNanos(System.nanoTime() - begin);
      return new Work(
          written, elapsed, new Histogram(DIGITS), Map.of("handled", handled.ids().size()));
    }

    @Override
    public void verify() {
      if (handled.ids().size() != wanted) {
        throw new BenchException(handled.ids().size() + " messages were handled, not " + wanted);
      }
    }

    @Override
    public void close() {
      cargo.stream().destroy();
    }
  }
}
