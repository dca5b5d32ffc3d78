package io.sqlstreams.internal.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.sqlstreams.ConsumerGroup;
import io.sqlstreams.Consumption;
import io.sqlstreams.HeadChange;
import io.sqlstreams.Message;
import io.sqlstreams.Outcome;
import io.sqlstreams.Outgoing;
import io.sqlstreams.Produced;
import io.sqlstreams.Producer;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.Concurrency;
import io.sqlstreams.config.ConsumeOptions;
import io.sqlstreams.config.ExceptionFilter;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.RetryPolicy;
import io.sqlstreams.config.Start;
import io.sqlstreams.lab.Await;
import io.sqlstreams.lab.PgBouncer;
import io.sqlstreams.lab.TestPool;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;

/** Behind a pooler that gives each transaction another session of the server. */
@SqlStreamsTest
class PoolerIT {
  private static final int SERVER_CONNECTIONS = 3;
  private static final int CLIENTS = 20;
  private static final int ROUNDS = 4;
  private static final RawPayload PAYLOAD = RawPayload.of("{\"a\":1}");
  private static final ConsumeOptions OPTIONS =
      ConsumeOptions.defaults().withHandlers(3).withPollInterval(Duration.ofMillis(50));

  static TestDatabase database;
  private static PgBouncer pooler;
  private static final List<HikariDataSource> POOLS = new ArrayList<>();
  private static final List<SqlStreams> CLIENT = new ArrayList<>();

  @BeforeAll
  static void start() throws IOException {
    Optional<Path> program = PgBouncer.program();
    assumeTrue(program.isPresent(), "pgbouncer isn't installed: apt-get install pgbouncer");
    pooler = PgBouncer.start(program.get(), database, SERVER_CONNECTIONS);
    for (int i = 0; i < CLIENTS; i++) {
      HikariConfig config = new HikariConfig();
      config.setDataSource(pooler.dataSource());
      config.setMaximumPoolSize(4);
      config.setMinimumIdle(0);
      config.setAutoCommit(i % 2 == 0);
      HikariDataSource pool = new HikariDataSource(config);
      POOLS.add(pool);
      CLIENT.add(SqlStreams.builder(pool).schema(database.schema()).build());
    }
  }

  @AfterAll
  static void stop() throws IOException {
    CLIENT.forEach(SqlStreams::close);
    POOLS.forEach(HikariDataSource::close);
    if (pooler != null) {
      pooler.close();
    }
  }

  @Test
  void aPoolerIsNoticedAndNothingElseIs() throws SQLException {
    Database direct = new Database(database.dataSource(), database.schema());
    direct.autoCommitted("look", connection -> threshold(connection, 5));
    try (Connection connection = database.dataSource().getConnection()) {
      assertThat(direct.pooler().isThere(connection)).isFalse();
    }
    try (HikariDataSource pool = TestPool.of(pooler.dataSource(), 1)) {
      Database behind = new Database(pool, database.schema());
      behind.autoCommitted("look", connection -> threshold(connection, 0));
      behind.inTransaction("look", connection -> threshold(connection, 0));
      try (OpenTransaction transaction = behind.begin()) {
        threshold(transaction.connection(), 0);
      }
      behind.release(behind.open());
      // everybody else's statements are prepared as before
      try (Connection connection = pool.getConnection()) {
        threshold(connection, 5);
        behind.borrowing(connection, borrowed -> threshold(borrowed, 0));
        threshold(connection, 5);
        assertThat(behind.pooler().isThere(connection)).isTrue();
      }
    }
  }

  private static int threshold(Connection connection, int expected) throws SQLException {
    assertThat(connection.unwrap(PGConnection.class).getPrepareThreshold()).isEqualTo(expected);
    return expected;
  }

  @Test
  void b54_twentyClientsOnThreeConnectionsDoEverything() throws Exception {
    Set<Long> produced = ConcurrentHashMap.newKeySet();
    ConcurrentLinkedQueue<String> disorder = new ConcurrentLinkedQueue<>();
    Map<String, Long> lastOfKey = new ConcurrentHashMap<>();
    CLIENT.get(0).stream("s").register();
    register("plain", Concurrency.PARALLEL);
    register("ordered", Concurrency.ORDERED);
    register("transactional", Concurrency.PARALLEL);
    execute(database.dataSource().getConnection(), "CREATE TABLE {s}.effects (id BIGINT)");
    List<Consumption> running = new ArrayList<>();
    for (int i = 10; i < 14; i++) {
      running.add(group(i, "plain").consume(PoolerIT::plain, OPTIONS));
    }
    for (int i = 14; i < 17; i++) {
      running.add(
          group(i, "ordered").consume(message -> ordered(message, lastOfKey, disorder), OPTIONS));
    }
    for (int i = 17; i < 20; i++) {
      running.add(group(i, "transactional").consumeTransactional(PoolerIT::effect, OPTIONS));
    }
    List<CompletableFuture<Void>> producing =
        IntStream.range(0, 10)
            .mapToObj(
                i ->
                    CompletableFuture.runAsync(
                        () -> produce(i, produced), task -> new Thread(task).start()))
            .toList();
    producing.forEach(CompletableFuture::join);
    for (String name : List.of("plain", "ordered", "transactional")) {
      awaitHandled(name);
    }
    assertThat(disorder).isEmpty();
    assertThat(group(0, "plain").snapshot().exceptions().dead()).isEqualTo(10);
    assertThat(group(1, "plain").exceptions().redrive(ExceptionFilter.all(), 100)).isEqualTo(10);
    awaitHandled("plain");
    group(2, "transactional").rewind(Start.beginning());
    awaitHandled("transactional");
    running.forEach(Consumption::stop);
    assertNothingIsLeftInTheSessions();
  }

  // ----

  private static void register(String name, Concurrency concurrency) {
    group(0, name)
        .register(
            GroupConfig.defaults()
                .withRetry(RetryPolicy.defaults().withMaxRetries(0))
                .withConcurrency(concurrency));
  }

  private static ConsumerGroup<RawPayload> group(int client, String name) {
    return CLIENT.get(client).stream("s").group(name);
  }

  private static void awaitHandled(String name) {
    Await.until(name + " has handled all", () -> group(0, name).snapshot().lag().messages() == 0);
  }

  private static void produce(int client, Set<Long> produced) {
    Producer<RawPayload> producer = CLIENT.get(client).stream("s").producer();
    for (int n = 0; n < ROUNDS; n++) {
      String round = client + "-" + n;
      List<CompletableFuture<Produced>> together = new ArrayList<>();
      for (int i = 0; i < 5; i++) {
        together.add(producer.produceAsync(PAYLOAD, ProduceOptions.key("k" + i)));
      }
      together.forEach(one -> produced.add(one.join().id()));
      ProduceOptions once = ProduceOptions.defaults().withIdempotencyKey(round);
      producer.produce(PAYLOAD, once);
      assertThat(producer.produce(PAYLOAD, once).duplicate()).isTrue();
      CLIENT.get(client).inTransaction(connection -> producer.in(connection).produce(PAYLOAD));
    }
    producer.produce(PAYLOAD, ProduceOptions.defaults().withRoutingKey("dead"));
    producer.produceAll(
        IntStream.range(0, 250).mapToObj(i -> Outgoing.of(PAYLOAD)).toList()); // by COPY
    CLIENT.get(client).stream("s").key("head").change(head -> HeadChange.to(PAYLOAD));
  }

  private static Outcome plain(Message<RawPayload> message) {
    return "dead".equals(message.routingKey()) && message.attempt() == 0
        ? Outcome.dead("at first")
        : Outcome.done();
  }

  private static Outcome ordered(
      Message<RawPayload> message,
      Map<String, Long> lastOfKey,
      ConcurrentLinkedQueue<String> disorder) {
    String key = message.key();
    if (key != null) {
      Long before = lastOfKey.put(key, message.id());
      if (before != null && before > message.id()) {
        disorder.add(key + ": " + message.id() + " after " + before);
      }
    }
    return Outcome.done();
  }

  private static Outcome effect(Message<RawPayload> message, Connection connection)
      throws SQLException {
    try (PreparedStatement insert =
        connection.prepareStatement("INSERT INTO " + database.schema() + ".effects VALUES (?)")) {
      insert.setLong(1, message.id());
      insert.executeUpdate();
    }
    return Outcome.done();
  }

  /** On each of the server's sessions that the pooler holds, all at once. */
  private static void assertNothingIsLeftInTheSessions() throws SQLException {
    List<Connection> held = new ArrayList<>();
    try {
      for (int i = 0; i < SERVER_CONNECTIONS; i++) {
        Connection connection = pooler.dataSource().getConnection();
        held.add(connection);
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement();
            ResultSet row =
                statement.executeQuery(
                    """
                    SELECT (SELECT count(*) FROM pg_prepared_statements),
                           (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()),
                           (SELECT string_agg(name, ', ') FROM pg_settings
                            WHERE source = 'session' AND name NOT LIKE 'transaction\\_%' AND name NOT IN
                              ('application_name', 'client_encoding', 'DateStyle', 'TimeZone', 'standard_conforming_strings', 'extra_float_digits'))
                    """)) {
          row.next();
          assertThat(row.getInt(1)).as("prepared statements").isZero();
          assertThat(row.getInt(2)).as("advisory locks").isZero();
          assertThat(row.getString(3)).as("settings").isNull();
        }
      }
    } finally {
      for (Connection connection : held) {
        connection.close();
      }
    }
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (connection;
        Statement statement = connection.createStatement()) {
      statement.execute(sql.replace("{s}", database.schema()));
    }
  }
}
