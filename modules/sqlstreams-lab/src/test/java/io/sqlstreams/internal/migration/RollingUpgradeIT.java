package io.sqlstreams.internal.migration;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.sqlstreams.ConsumerGroup;
import io.sqlstreams.Consumption;
import io.sqlstreams.Message;
import io.sqlstreams.Outcome;
import io.sqlstreams.Outgoing;
import io.sqlstreams.Produced;
import io.sqlstreams.Producer;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.DeliveryLogMode;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.Migration;
import io.sqlstreams.config.MigrationScope;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.internal.schema.Steps;
import io.sqlstreams.lab.Await;
import io.sqlstreams.lab.Consumer;
import io.sqlstreams.lab.TestPool;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Builds of two versions on the same tables, under load, while these change. */
@SqlStreamsTest
class RollingUpgradeIT {
  private static final RawPayload PAYLOAD = RawPayload.of("{\"a\":1}");

  static TestDatabase database;

  /** Produces in every form until it is told to stop. */
  private static final class Load implements AutoCloseable {
    private final SqlStreams client;
    private final Producer<RawPayload> producer;
    private final Set<Long> produced = ConcurrentHashMap.newKeySet();
    private final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
    private final AtomicInteger rounds = new AtomicInteger();
    private final Thread thread = new Thread(this::run, "load");
    private volatile boolean stopping;

    Load(SqlStreams client) {
      this.client = client;
      this.producer = client.stream("s").producer();
      thread.start();
    }

    private void run() {
      try {
        while (!stopping) {
          round(rounds.incrementAndGet());
        }
      } catch (Throwable e) {
        failures.add(e);
      }
    }

    private void round(int n) {
      keep(producer.produce(PAYLOAD));
      keep(producer.produce(PAYLOAD, ProduceOptions.defaults().withIdempotencyKey("k" + n)));
      producer
          .produceAll(
              IntStream.range(0, 3)
                  .mapToObj(i -> Outgoing.of(PAYLOAD, ProduceOptions.key("k" + i)))
                  .toList())
          .forEach(this::keep);
      client.inTransaction(
          connection -> {
            keep(producer.in(connection).produce(PAYLOAD));
            return null;
          });
    }

    private void keep(Produced message) {
      produced.add(message.id());
    }

    /** Waits until it has gone on for a while. */
    void awaitMore() {
      int before = rounds.get();
      Await.until("the load goes on", () -> rounds.get() >= before + 10 || !failures.isEmpty());
      assertThat(failures).isEmpty();
    }

    @Override
    public void close() throws InterruptedException {
      stopping = true;
      thread.join();
    }
  }

  @Test
  void b57_anOldBuildGoesOnWhileTheTablesChangeAndWhileANewOneWorksBesideIt() throws Exception {
    Set<Long> once = ConcurrentHashMap.newKeySet();
    Set<Long> inTransaction = ConcurrentHashMap.newKeySet();
    AtomicInteger failedAttempts = new AtomicInteger();
    try (HikariDataSource pool = TestPool.of(database.dataSource(), 12);
        SqlStreams old = LaterBuild.client(pool, database, Steps.ofThisBuild())) {
      old.stream("s").register();
      GroupConfig config = GroupConfig.defaults().withDeliveryLog(DeliveryLogMode.ALL);
      ConsumerGroup<RawPayload> plain = old.stream("s").group("plain");
      ConsumerGroup<RawPayload> transactional = old.stream("s").group("transactional");
      plain.register(config);
      transactional.register(config);
      Load load = new Load(old);
      try (load;
          Consumption one =
              plain.consume(message -> take(message, once, failedAttempts), Consumer.QUICK);
          Consumption two =
              transactional.consumeTransactional(
                  (message, connection) -> take(message, inTransaction, failedAttempts),
                  Consumer.QUICK)) {
        load.awaitMore();
        try (HikariDataSource laterPool = TestPool.of(database.dataSource(), 8);
            SqlStreams later = LaterBuild.client(laterPool, database, LaterBuild.steps(1))) {
          assertThat(later.system().migrate(Migration.up())).hasSize(2);
          load.awaitMore();
          Load more = new Load(later);
          try (more;
              Consumption beside =
                  later.stream("s")
                      .group("plain")
                      .consume(message -> take(message, once, failedAttempts), Consumer.QUICK)) {
            more.awaitMore();
            load.awaitMore();
          }
          assertThat(more.failures).isEmpty();
          load.produced.addAll(more.produced);
          later.system().migrate(Migration.downTo(MigrationScope.STREAM, 1));
          later.system().migrate(Migration.downTo(MigrationScope.SYSTEM, 1));
        }
        load.awaitMore();
        load.close();
        Await.until(
            "both groups have got everything",
            () -> once.containsAll(load.produced) && inTransaction.containsAll(load.produced));
      }
      assertThat(load.failures).isEmpty();
      assertThat(plain.snapshot().exceptions().unresolved()).isZero();
      assertThat(transactional.snapshot().exceptions().unresolved()).isZero();
    }
    assertThat(failedAttempts).hasValue(0);
    assertThat(database.server().serverLog().orElseThrow().reports("0A000"))
        .as("cached plan must not change result type")
        .noneMatch(report -> report.contains(database.schema()));
  }

  /** Everything succeeds at first: a second attempt would be the trace of a failed statement. */
  private static Outcome take(
      Message<RawPayload> message, Set<Long> received, AtomicInteger failedAttempts) {
    if (message.attempt() > 0) {
      failedAttempts.incrementAndGet();
    }
    received.add(message.id());
    return Outcome.done();
  }
}
