package io.sqlstreams.bench.scenario;

import io.sqlstreams.ConsumerGroup;
import io.sqlstreams.Consumption;
import io.sqlstreams.ConsumptionCounters;
import io.sqlstreams.Produced;
import io.sqlstreams.Producer;
import io.sqlstreams.UpkeepRun;
import io.sqlstreams.bench.BenchException;
import io.sqlstreams.bench.load.IdSet;
import io.sqlstreams.bench.load.PayloadForm;
import io.sqlstreams.bench.load.Quota;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.error.DatabaseException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * Producing and consuming while partitions come and go. A round is to last several times the
 * retention: run it by itself, with {@code --seconds}.
 *
 * @param form how payloads are handed over
 */
record Retained(PayloadForm form) implements Scenario {
  private static final Duration RETENTION = Duration.ofSeconds(30);
  private static final long PARTITION = 20_000;
  private static final int BATCH = 100;

  /** How long the batches are apart: so the machine isn't the limit, and what waits shows. */
  private static final Duration PACE = Duration.ofMillis(20);

  private static final Duration READER_AFTER = Duration.ofSeconds(45);
  private static final Duration READER_FOR = Duration.ofSeconds(60);
  private static final Supplier<ProduceOptions> NO_OPTIONS = ProduceOptions::defaults;

  @Override
  public String name() {
    return "retention";
  }

  @Override
  public String description() {
    return "produceAll of "
        + BATCH
        + " each "
        + PACE.toMillis()
        + " ms and 1 consumer group, messages kept for "
        + RETENTION.toSeconds()
        + " s in partitions of "
        + PARTITION
        + ", from the "
        + READER_AFTER.toSeconds()
        + "th second on a reader open for "
        + READER_FOR.toSeconds()
        + " s";
  }

  @Override
  public long messages() {
    return 1_000_000;
  }

  @Override
  public boolean isShort() {
    return false;
  }

  @Override
  public Trial prepare(Workbench bench, Quota quota) {
    return trial(bench, Cargo.register(bench, bench.newName(this), form), quota);
  }

  private static <T> Trial trial(Workbench bench, Cargo<T> cargo, Quota quota) {
    // its partitions were made by the size; so it is made anew
    cargo.stream().destroy();
    cargo.stream()
        .register(bench.streamConfig().withPartitionSize(PARTITION).withRetention(RETENTION));
    ConsumerGroup<T> group = cargo.stream().group("handled");
    group.register();
    return new RetainedTrial<>(bench, cargo, group, quota);
  }

  private static final class RetainedTrial<T> implements Trial {
    private final Workbench bench;
    private final Cargo<T> cargo;
    private final ConsumerGroup<T> group;
    private final Quota quota;
    private final IdSet ids = new IdSet();
    private final Handled handled = new Handled();
    private final Latencies calls = new Latencies();
    private final Latencies journeys = new Latencies();
    private final Journey journey = new Journey(handled, journeys, this::phase);
    private final AtomicBoolean isReading = new AtomicBoolean();
    private final AtomicBoolean isUpkeep = new AtomicBoolean();
    private final AtomicLong created = new AtomicLong();
    private final AtomicLong dropped = new AtomicLong();
    private final AtomicLong inTheWay = new AtomicLong();
    private final Disk disk = new Disk();

    RetainedTrial(Workbench bench, Cargo<T> cargo, ConsumerGroup<T> group, Quota quota) {
      this.bench = bench;
      this.cargo = cargo;
      this.group = group;
      this.quota = quota;
    }

    private Phase phase() {
      return isReading.get() ? Phase.READER : isUpkeep.get() ? Phase.UPKEEP : Phase.CALM;
    }

    @Override
    public Work run() throws Exception {
      ScheduledExecutorService beside = Executors.newScheduledThreadPool(3);
      Consumption consumption = group.consume(journey::handle, bench.consuming());
      Duration elapsed;
      try (consumption) {
        beside.scheduleWithFixedDelay(this::keepUp, 1, 1, TimeUnit.SECONDS);
        beside.scheduleWithFixedDelay(this::measureDisk, 1, 1, TimeUnit.SECONDS);
        beside.schedule(this::read, READER_AFTER.toSeconds(), TimeUnit.SECONDS);
        quota.start();
        long begin = System.nanoTime();
        produce(begin);
        long end = handled.await(ids.size(), consumption);
        elapsed = Duration.ofNanos(end - begin);
      } finally {
        beside.shutdownNow();
        beside.awaitTermination(1, TimeUnit.MINUTES);
      }
      requireClean(consumption.counters());
      Map<String, Long> notes = new LinkedHashMap<>();
      notes.put("partitionsCreated", created.get());
      notes.put("partitionsDropped", dropped.get());
      notes.put("upkeepInTheWay", inTheWay.get());
      disk.tell(notes);
      calls.tell("produce", notes);
      journeys.tell("handled", notes);
      return new Work(ids.size(), elapsed, calls.all(), notes);
    }

    private void produce(long begin) throws InterruptedException {
      Producer<T> producer = cargo.stream().producer();
      long due = begin;
      for (int size = quota.take(BATCH); size > 0; size = quota.take(BATCH)) {
        long early = due - System.nanoTime();
        if (early > 0) {
          TimeUnit.NANOSECONDS.sleep(early);
        }
        due += PACE.toNanos();
        // by what goes on at the beginning or at the end, whatever is rarer
        Phase before = phase();
        long called = System.nanoTime();
        List<Produced> receipts = producer.produceAll(cargo.batch(size, NO_OPTIONS));
        Phase after = phase();
        calls.record(before.compareTo(after) > 0 ? before : after, System.nanoTime() - called);
        receipts.forEach(receipt -> ids.add(receipt.id()));
        journey.produced(receipts, called);
      }
    }

    private void keepUp() {
      isUpkeep.set(true);
      try {
        UpkeepRun run = cargo.stream().runUpkeep();
        created.addAndGet(run.partitionsCreated());
        dropped.addAndGet(run.partitionsDropped());
      } catch (DatabaseException e) {
        inTheWay.incrementAndGet();
      } finally {
        isUpkeep.set(false);
      }
    }

    private void measureDisk() {
      String log = bench.logOf(cargo.stream());
      try (Connection connection = bench.dataSource().getConnection();
          Statement statement = connection.createStatement();
          ResultSet row =
              statement.executeQuery(
                  "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND oid::regclass::text LIKE '"
                      + log
                      + "\\_%'")) {
        row.next();
        disk.add(row.getLong(1));
      } catch (SQLException e) {
        throw new BenchException("the size of the log can't be read", e);
      }
    }

    private void read() {
      try (Connection connection = bench.dataSource().getConnection();
          Statement statement = connection.createStatement()) {
        connection.setAutoCommit(false);
        connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        statement.execute("SELECT count(*) FROM " + bench.logOf(cargo.stream()));
        isReading.set(true);
        TimeUnit.SECONDS.sleep(READER_FOR.toSeconds());
        connection.rollback();
        connection.setAutoCommit(true);
      } catch (SQLException e) {
        throw new BenchException("the reader failed", e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } finally {
        isReading.set(false);
      }
    }

    private static void requireClean(ConsumptionCounters counters) {
      if (counters.retried() + counters.dead() + counters.undecodable() > 0) {
        throw new BenchException("deliveries failed: " + counters);
      }
    }

    @Override
    public void verify() {
      long lost = ids.missingIn(handled.ids());
      if (lost > 0) {
        throw new BenchException(lost + " messages were dropped unread, or never handled");
      }
    }

    @Override
    public void close() {
      cargo.stream().destroy();
    }
  }
}
