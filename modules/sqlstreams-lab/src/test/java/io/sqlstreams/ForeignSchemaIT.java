package io.sqlstreams;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.ConsumeOptions;
import io.sqlstreams.config.DeliveryLogMode;
import io.sqlstreams.config.ExceptionFilter;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.Page;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.RetryPolicy;
import io.sqlstreams.config.Start;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.lab.Await;
import io.sqlstreams.lab.Consumer;
import io.sqlstreams.lab.TestPool;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Case B52: in a database of its own, a role that may do nothing in the schema {@code public}, and
 * whose {@code search_path} is empty, uses every feature; beside it there is a second installation.
 */
@SqlStreamsTest
class ForeignSchemaIT {
  private static final GroupConfig QUICK_RETRY =
      GroupConfig.defaults()
          .withDeliveryLog(DeliveryLogMode.ALL)
          .withRetry(
              RetryPolicy.defaults()
                  .withMaxRetries(1)
                  .withInitialBackoff(Duration.ofMillis(10))
                  .withBackoff(Duration.ofMillis(10), 1));

  TestDatabase shared;
  private String name;
  private HikariDataSource pool;

  @BeforeEach
  void createDatabase() throws SQLException {
    name = "d" + shared.schema().substring(1);
    Sql.execute(shared.dataSource(), "CREATE ROLE " + name);
    Sql.execute(shared.dataSource(), "CREATE DATABASE " + name);
    Sql.execute(
        as("-c search_path="),
        "REVOKE ALL ON SCHEMA public FROM PUBLIC; GRANT CREATE, CONNECT ON DATABASE %s TO %s"
            .formatted(name, name));
    pool = TestPool.of(as("-c role=" + name + " -c search_path="), 8);
  }

  @AfterEach
  void dropDatabase() throws SQLException {
    pool.close();
    Sql.execute(shared.dataSource(), "DROP DATABASE " + name + " WITH (FORCE)");
    Sql.execute(shared.dataSource(), "DROP ROLE " + name);
  }

  private DataSource as(String options) {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setURL(shared.jdbcUrl());
    source.setDatabaseName(name);
    source.setOptions(options);
    return source;
  }

  private SqlStreams client(String schema) {
    return SqlStreams.builder(pool).schema(schema).allowDestroy(true).build();
  }

  @Test
  void b52_everyFeatureWorksWithoutPublicAndTwoInstallationsShareNothing() throws Exception {
    assertThatThrownBy(() -> Sql.execute(pool, "CREATE TABLE public.t (id int)"))
        .isInstanceOf(SQLException.class);
    try (SqlStreams a = client("a");
        SqlStreams b = client("b")) {
      useEverything(a, "a");
      List<String> before = contents("a");
      useEverything(b, "b");
      assertThat(contents("a")).as("nothing of it has changed").isEqualTo(before);
      a.stream("s").group("g").destroy();
      a.stream("s").destroy();
      a.system().destroy();
      assertThat(b.stream("s").group("g").snapshot().lag().messages()).isZero();
      assertThat(b.stream("s").producer().produce(RawPayload.of("1")).id()).isPositive();
      b.system().destroy();
    }
    assertThat(
            Sql.value(
                pool, "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace"))
        .isEqualTo("0");
  }

  private void useEverything(SqlStreams client, String schema) throws Exception {
    client.system().register();
    client.system().rename("installation-" + schema);
    StreamHandle<RawPayload> stream = client.stream("s");
    client.stream("before").register(StreamConfig.defaults().withPartitionSize(100));
    client.stream("before").rename("s");
    stream.register(
        StreamConfig.defaults().withPartitionSize(100).withIdempotencyKeyTtl(Duration.ofHours(1)));
    ConsumerGroup<RawPayload> group = stream.group("g");
    group.register(QUICK_RETRY);
    produceInEveryForm(client, stream);
    long messages = count(schema, "message_log_1");

    Set<Long> failed = ConcurrentHashMap.newKeySet();
    try (Consumption running =
        group.consume(
            message -> {
              if (message.id() % 50 == 0 || (message.id() % 50 == 1 && failed.add(message.id()))) {
                throw new IllegalStateException("no");
              }
              return message.id() % 50 == 2 && message.delays() == 0
                  ? Outcome.delay(Duration.ofMillis(1))
                  : Outcome.done();
            },
            Consumer.QUICK)) {
      awaitSettled(group);
      running.stop();
    }
    long dead = group.snapshot().exceptions().dead();
    assertThat(dead).isGreaterThan(10);
    ExceptionInfo first = group.exceptions().list(ExceptionFilter.dead(), Page.first(1)).get(0);
    assertThat(stream.message(first.messageId()).orElseThrow().deliveries()).hasSize(1);
    assertThat(group.exceptions().redrive(ExceptionFilter.dead(), 5)).isEqualTo(5);
    assertThat(group.exceptions().discard(ExceptionFilter.dead(), 5)).isEqualTo(5);
    try (Consumption running = group.consumeBatches(batch -> BatchOutcome.done(), Consumer.QUICK)) {
      awaitSettled(group);
      running.stop();
    }
    assertThat(group.snapshot().exceptions().dead()).isEqualTo(dead - 10);

    assertThat(group.previewRewind(Start.BEGINNING).messages()).isEqualTo(messages);
    group.rewind(Start.BEGINNING);
    AtomicInteger effects = new AtomicInteger();
    try (Consumption running =
        group.consumeTransactional(
            (message, connection) -> {
              effects.incrementAndGet();
              return Outcome.done();
            },
            ConsumeOptions.defaults())) {
      assertThat(group.leases()).isNotNull();
      awaitSettled(group);
      running.stop();
    }
    assertThat(effects.get()).isGreaterThanOrEqualTo((int) messages);
    assertThat(group.releaseLeases(new java.util.UUID(1, 2))).isZero();
    group.rename("h");
    stream.group("h").rename("g");
    assertThat(stream.groups()).hasSize(1);
    assertThat(client.streams()).hasSize(1);
  }

  /** Across partitions that aren't there yet. */
  private static void produceInEveryForm(SqlStreams client, StreamHandle<RawPayload> stream) {
    Producer<RawPayload> producer = stream.producer();
    ProduceOptions once = ProduceOptions.key("k").withRoutingKey("r").withHeader("n", "v");
    for (int round = 0; round < 2; round++) {
      List<Outgoing<RawPayload>> few = new ArrayList<>();
      List<Outgoing<RawPayload>> many = new ArrayList<>();
      for (int i = 0; i < 300; i++) {
        (i < 20 ? few : many)
            .add(Outgoing.of(RawPayload.of("1"), once.withIdempotencyKey("batch-" + i)));
      }
      producer.produce(RawPayload.of("1"), once);
      producer.produce(RawPayload.of("1"), once.withIdempotencyKey("single"));
      producer.produceAsync(RawPayload.of("1"), once.withIdempotencyKey("async")).join();
      producer.produceAll(few);
      producer.produceAll(many);
      producer.produceAll(List.of(Outgoing.of(RawPayload.of("1"))));
      for (Outgoing<RawPayload> message : many) {
        if (round == 0) {
          producer.produceAsync(message.payload(), ProduceOptions.defaults()).join();
        }
      }
      client.inTransaction(
          connection -> {
            producer.in(connection).produce(RawPayload.of("1"), once.withIdempotencyKey("own"));
            return producer.in(connection).produceAll(many);
          });
    }
  }

  private static void awaitSettled(ConsumerGroup<RawPayload> group) {
    Await.until("nothing is left", () -> group.snapshot().lag().messages() == 0);
  }

  private long count(String schema, String table) throws SQLException {
    return Long.parseLong(Sql.value(pool, "SELECT count(*) FROM " + schema + "." + table));
  }

  /** Every row of every table, as a digest for each table. */
  private List<String> contents(String schema) throws SQLException {
    List<String> contents = new ArrayList<>();
    for (String table :
        Sql.rows(
            pool,
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = '%s'::regnamespace ORDER BY 1"
                .formatted(schema))) {
      contents.add(
          table
              + " "
              + Sql.value(
                  pool,
                  "SELECT count(*) || ' ' || coalesce(md5(string_agg(t::text, ',' ORDER BY t::text)), '') FROM %s.%s AS t"
                      .formatted(schema, table)));
    }
    return contents;
  }
}
