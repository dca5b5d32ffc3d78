package io.sqlstreams.internal.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.sqlstreams.Consumption;
import io.sqlstreams.Outcome;
import io.sqlstreams.Producer;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.TransactionalHandler;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.ConsumeOptions;
import io.sqlstreams.config.DeliveryLogMode;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.RetryPolicy;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.lab.Await;
import io.sqlstreams.lab.Consumer;
import io.sqlstreams.lab.Relay;
import io.sqlstreams.lab.TestPool;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.lab.Worker;
import io.sqlstreams.lab.WorkerSettings;
import io.sqlstreams.lab.Workers;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What a handler writes through the connection of its message is there exactly once for each
 * message that is done, and not at all for one that isn't.
 */
@SqlStreamsTest
class TransactionalIT {
  static final GroupConfig QUICK_RETRY =
      GroupConfig.defaults()
          .withTimeout(Duration.ofSeconds(10))
          .withRetry(
              RetryPolicy.defaults()
                  .withMaxRetries(1)
                  .withInitialBackoff(Duration.ofMillis(20))
                  .withBackoff(Duration.ofMillis(20), 1));

  TestDatabase database;
  SqlStreams client;
  TestStream stream;
  @TempDir Path directory;

  @BeforeEach
  void register() {
    client = TestStream.client(database);
    stream = TestStream.register(database, StreamConfig.defaults(), QUICK_RETRY);
    stream.execute(
        "DROP TABLE IF EXISTS {effects}; CREATE TABLE {effects} (message_id BIGINT NOT NULL)");
  }

  @AfterEach
  void close() {
    client.close();
  }

  @Test
  void effectsAreThereForEachMessageThatIsDoneAndForNoOther() {
    List<Long> ids = stream.produce(300);
    Set<Long> dead = Set.of(ids.get(7), ids.get(8), ids.get(299));
    try (Consumption running =
        consume(
            (message, connection) -> {
              insert(connection, message.id());
              if (dead.contains(message.id())) {
                throw new IllegalStateException("no");
              }
              if (message.id() % 10 == 0 && message.attempt() == 0) {
                return message.id() % 20 == 0
                    ? Outcome.delay(Duration.ofMillis(10))
                    : Outcome.failed(new IllegalStateException("not yet"));
              }
              return message.id() == ids.get(100) ? Outcome.dead("gone") : Outcome.done();
            })) {
      stream.awaitSettled();
      running.stop();
      assertThat(running.counters().done()).isEqualTo(296);
      assertThat(running.counters().dead()).isEqualTo(4);
      assertThat(running.counters().leaseLost()).isZero();
    }
    assertThat(effects())
        .doesNotHaveDuplicates()
        .hasSize(296)
        .doesNotContainAnyElementsOf(dead)
        .doesNotContain(ids.get(100));
    assertThat(stream.longs("SELECT message_id FROM {queue} WHERE status = 'dead'"))
        .containsExactlyInAnyOrder(ids.get(7), ids.get(8), ids.get(100), ids.get(299));
  }

  @Test
  void historyIsWrittenInTheSameTransaction() {
    stream =
        TestStream.register(
            database, StreamConfig.defaults(), QUICK_RETRY.withDeliveryLog(DeliveryLogMode.ALL));
    stream.produce(100);
    try (Consumption running = consume(this::insertAndFailOnce)) {
      stream.awaitSettled();
      running.stop();
      assertThat(running.counters().retried()).isEqualTo(10);
    }
    assertThat(stream.rows("SELECT status, count(*) FROM {deliveries} GROUP BY 1 ORDER BY 1"))
        .containsExactly("failure|10", "success|100");
    assertThat(effects()).hasSize(100).doesNotHaveDuplicates();
  }

  private Outcome insertAndFailOnce(
      io.sqlstreams.Message<RawPayload> message, Connection connection) throws SQLException {
    insert(connection, message.id());
    if (message.id() % 10 == 0 && message.attempt() == 0) {
      throw new IllegalStateException("not yet");
    }
    return Outcome.done();
  }

  @Test
  void aStatementThatFailedAndWasHushedUpIsAFailure() {
    List<Long> ids = stream.produce(5);
    long bad = ids.get(2);
    try (Consumption running =
        consume(
            (message, connection) -> {
              insert(connection, message.id());
              if (message.id() == bad) {
                try (Statement statement = connection.createStatement()) {
                  statement.execute("SELECT 1 / 0");
                } catch (SQLException e) {
                  // and on it goes
                }
              }
              return Outcome.done();
            })) {
      stream.awaitSettled();
      running.stop();
      assertThat(running.counters().dead()).isEqualTo(1);
    }
    assertThat(effects()).hasSize(4).doesNotContain(bad);
    assertThat(stream.rows("SELECT last_error FROM {queue}").get(0))
        .contains("let the exception out");
  }

  @Test
  void theEndOfTheTransactionIsNotTheHandlers() {
    long id = stream.produce(1).get(0);
    AtomicInteger refused = new AtomicInteger();
    try (Consumption running =
        consume(
            (message, connection) -> {
              List<TransactionalCall> calls =
                  List.of(
                      Connection::commit,
                      Connection::rollback,
                      c -> c.setAutoCommit(true),
                      c -> c.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE),
                      c -> c.abort(Runnable::run));
              for (TransactionalCall call : calls) {
                assertThatThrownBy(() -> call.on(connection))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("return an outcome");
                refused.incrementAndGet();
              }
              Savepoint own = connection.setSavepoint();
              insert(connection, message.id());
              connection.rollback(own);
              insert(connection, message.id());
              connection.close();
              insert(connection, message.id());
              return Outcome.done();
            })) {
      stream.awaitSettled();
    }
    assertThat(refused).hasValue(5);
    assertThat(effects()).containsExactly(id, id);
  }

  @FunctionalInterface
  interface TransactionalCall {
    void on(Connection connection) throws SQLException;
  }

  @Test
  void aHandlerThatEndsTheTransactionByAStatementHurtsItselfAlone() {
    List<Long> ids = stream.produce(20);
    long bad = ids.get(10);
    try (Consumption running =
        consume(
            (message, connection) -> {
              if (message.id() == bad) {
                try (Statement statement = connection.createStatement()) {
                  statement.execute("ROLLBACK");
                }
              } else {
                insert(connection, message.id());
              }
              return Outcome.done();
            })) {
      stream.awaitSettled();
      running.stop();
      assertThat(running.counters().dead()).isEqualTo(1);
    }
    assertThat(effects()).hasSize(19).doesNotHaveDuplicates();
    assertThat(stream.rows("SELECT last_error FROM {queue}").get(0))
        .contains("ended the transaction by a statement");
  }

  @Test
  void aConnectionIsOfNoUseAfterItsMessage() {
    stream.produce(1);
    AtomicInteger attempts = new AtomicInteger();
    Connection[] kept = new Connection[1];
    try (Consumption running =
        consume(
            (message, connection) -> {
              kept[0] = connection;
              attempts.incrementAndGet();
              return Outcome.done();
            })) {
      stream.awaitSettled();
    }
    assertThat(attempts).hasValue(1);
    assertThatThrownBy(() -> insert(kept[0], 1))
        .isInstanceOf(SQLException.class)
        .hasMessageContaining("has ended");
  }

  /**
   * Steps: the handler writes; the lease is released from outside, and the message is handled by
   * another; the first handler returns.
   */
  @Test
  void aLeaseThatIsLostInMidHandlerTakesTheEffectsAlong() throws Exception {
    List<Long> ids = stream.produce(3);
    CountDownLatch written = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    AtomicInteger deliveries = new AtomicInteger();
    Consumption late =
        consume(
            (message, connection) -> {
              insert(connection, message.id());
              if (deliveries.getAndIncrement() == 0) {
                written.countDown();
                goOn.await();
              }
              return Outcome.done();
            },
            Consumer.QUICK
                .withHandlers(1)
                .withLease(Duration.ofSeconds(60), Duration.ofSeconds(30)));
    assertThat(written.await(30, TimeUnit.SECONDS)).isTrue();
    var group = client.stream(stream.name()).group("g");
    group.leases().stream()
        .map(lease -> lease.session())
        .distinct()
        .forEach(session -> group.releaseLeases(session));
    try (Consumption other = consume((message, connection) -> done(connection, message.id()))) {
      Await.until(
          "another has done it all",
          () -> stream.number("SELECT committed FROM {cursor}") == ids.get(2));
    }
    goOn.countDown();
    late.stop();
    assertThat(late.counters().leaseLost()).isPositive();
    assertThat(effects()).containsExactlyInAnyOrderElementsOf(ids);
  }

  @Test
  void deadlocksInTheUsersSqlRunAgainAndAreNoFailures() throws Exception {
    stream.execute(
        "CREATE TABLE {effects}_rows AS SELECT i AS id, 0 AS n FROM generate_series(1, 2) AS i");
    List<Long> ids = stream.produce(40);
    CyclicBarrier together = new CyclicBarrier(2);
    AtomicInteger met = new AtomicInteger();
    try (Consumption running =
        consume(
            (message, connection) -> {
              insert(connection, message.id());
              long first = message.id() % 2 + 1;
              add(connection, first);
              if (met.getAndIncrement() < 2) {
                together.await(30, TimeUnit.SECONDS);
              }
              add(connection, 3 - first);
              return Outcome.done();
            },
            Consumer.QUICK.withHandlers(2).withMaxClaim(1))) {
      stream.awaitSettled();
      running.stop();
      assertThat(running.counters().retried()).isZero();
    }
    assertThat(database.deadlocks()).as("the test makes them").isNotEmpty();
    assertThat(effects()).containsExactlyInAnyOrderElementsOf(ids);
    assertThat(stream.longs("SELECT n FROM {effects}_rows")).containsExactly(40L, 40L);
    assertThat(stream.longs("SELECT message_id FROM {deliveries}")).isEmpty();
    stream.execute("DROP TABLE {effects}_rows");
  }

  @Test
  void aSerializationFailureRunsAgainAndCountsOnlyWhenItDoesNotEnd() {
    List<Long> ids = stream.produce(30);
    long twice = ids.get(4);
    long always = ids.get(20);
    Map<Long, Integer> calls = new ConcurrentHashMap<>();
    try (Consumption running =
        consume(
            (message, connection) -> {
              insert(connection, message.id());
              int call = calls.merge(message.id(), 1, Integer::sum);
              if (message.id() == always || (message.id() == twice && call <= 2)) {
                throw new IllegalStateException(
                    new SQLException("could not serialize access", "40001"));
              }
              return Outcome.done();
            })) {
      stream.awaitSettled();
      running.stop();
      assertThat(running.counters().dead()).isEqualTo(1);
      assertThat(running.counters().retried()).isEqualTo(1);
    }
    assertThat(effects()).hasSize(29).doesNotHaveDuplicates().doesNotContain(always);
    assertThat(stream.longs("SELECT message_id FROM {deliveries}")).containsExactly(always, always);
  }

  @Test
  void whatIsRefusedAtTheCommitIsTheFaultOfOneMessage() {
    stream.execute(
        "ALTER TABLE {effects} ADD CONSTRAINT once UNIQUE (message_id) DEFERRABLE INITIALLY DEFERRED");
    List<Long> ids = stream.produce(30);
    long bad = ids.get(13);
    try (Consumption running =
        consume(
            (message, connection) -> {
              insert(connection, message.id());
              if (message.id() == bad) {
                insert(connection, message.id());
              }
              return Outcome.done();
            })) {
      stream.awaitSettled();
      running.stop();
      assertThat(running.counters().dead()).isEqualTo(1);
    }
    assertThat(effects()).hasSize(29).doesNotHaveDuplicates().doesNotContain(bad);
    assertThat(stream.rows("SELECT last_error FROM {queue}").get(0)).contains("once");
  }

  @Test
  void aHandlerThatWaitsForTheDatabaseIsStoppedWhenItsTimeIsOver() {
    stream =
        TestStream.register(
            database,
            StreamConfig.defaults(),
            QUICK_RETRY.withTimeout(Duration.ofMillis(300)).withRetry(noRetry()));
    List<Long> ids = stream.produce(20);
    long slow = ids.get(3);
    try (Consumption running =
        consume(
            (message, connection) -> {
              insert(connection, message.id());
              if (message.id() == slow) {
                try (Statement statement = connection.createStatement()) {
                  statement.execute("SELECT pg_sleep(60)");
                }
              }
              return Outcome.done();
            },
            Consumer.QUICK.withHandlers(1))) {
      stream.awaitSettled();
      running.stop();
      assertThat(running.counters().timedOut()).isPositive();
      assertThat(running.counters().abandoned()).isZero();
    }
    assertThat(effects()).hasSize(19).doesNotHaveDuplicates().doesNotContain(slow);
    assertThat(stream.rows("SELECT last_error FROM {queue}").get(0))
        .contains("took longer than PT0.3S");
  }

  @Test
  void anAbandonedHandlersEffectsAreNeverCommitted() {
    stream =
        TestStream.register(
            database,
            StreamConfig.defaults(),
            QUICK_RETRY.withTimeout(Duration.ofMillis(200)).withRetry(noRetry()));
    List<Long> ids = stream.produce(20);
    long stuck = ids.get(5);
    CountDownLatch release = new CountDownLatch(1);
    AtomicInteger lateWrites = new AtomicInteger();
    Consumption running =
        consume(
            (message, connection) -> {
              insert(connection, message.id());
              if (message.id() == stuck) {
                while (release.getCount() > 0) {
                  Thread.onSpinWait();
                }
                try {
                  insert(connection, message.id());
                  lateWrites.incrementAndGet();
                } catch (SQLException e) {
                  throw new IllegalStateException(e);
                }
              }
              return Outcome.done();
            },
            Consumer.QUICK.withHandlers(1));
    stream.awaitSettled();
    assertThat(running.counters().abandoned()).isEqualTo(1);
    release.countDown();
    Await.until("the thread is back", () -> running.counters().abandoned() == 0);
    running.stop();
    assertThat(lateWrites).hasValue(0);
    assertThat(effects()).hasSize(19).doesNotHaveDuplicates().doesNotContain(stuck);
    assertThat(stream.longs("SELECT message_id FROM {queue} WHERE status = 'dead'"))
        .containsExactly(stuck);
  }

  @Test
  void aConnectionThatBreaksInMidHandlerIsNoFailure() {
    List<Long> ids = stream.produce(20);
    AtomicInteger broken = new AtomicInteger();
    try (Consumption running =
        consume(
            (message, connection) -> {
              insert(connection, message.id());
              if (message.id() == ids.get(9) && broken.getAndIncrement() < 2) {
                try (Statement statement = connection.createStatement()) {
                  statement.execute("SELECT pg_terminate_backend(pg_backend_pid())");
                }
              }
              return Outcome.done();
            })) {
      stream.awaitSettled();
      running.stop();
      assertThat(running.counters().retried()).isZero();
      assertThat(running.counters().done()).isEqualTo(20);
    }
    assertThat(effects()).containsExactlyInAnyOrderElementsOf(ids);
  }

  /** The answer to a commit is lost: nothing is done twice, nothing is skipped. */
  @ParameterizedTest
  @EnumSource
  void b56_aConnectionLostAtTheCommitOfResultsNeitherRepeatsNorSkips(Relay.Cut cut)
      throws Exception {
    List<Long> ids = stream.produce(500);
    try (Relay relay = new Relay(database.jdbcUrl());
        HikariDataSource pool = TestPool.of(relay.dataSource(), 8);
        SqlStreams cutOff = SqlStreams.builder(pool).schema(database.schema()).build();
        Consumption running =
            cutOff.stream(stream.name())
                .group("g")
                .consumeTransactional(
                    (message, connection) -> done(connection, message.id()),
                    Consumer.QUICK.withMaxClaim(20))) {
      for (int round = 1; round <= 5; round++) {
        relay.cut(cut, 1, "INSERT INTO " + stream.sql("{effects}"));
        int wanted = round;
        Await.until("a commit is cut", () -> relay.cuts() == wanted || stream.isSettled());
      }
      stream.awaitSettled();
      running.stop();
      assertThat(relay.cuts()).isPositive();
      assertThat(running.counters().retried()).isZero();
      assertThat(running.counters().done()).isEqualTo(500);
    }
    assertThat(effects()).containsExactlyInAnyOrderElementsOf(ids);
  }

  /** The same for the results of ordinary handlers: at least once, never skipped. */
  @ParameterizedTest
  @EnumSource
  void b56_aConnectionLostAtTheCommitOfACompletionOrAClaimSkipsNothing(Relay.Cut cut)
      throws Exception {
    List<Long> ids = stream.produce(500);
    Set<Long> handled = ConcurrentHashMap.newKeySet();
    try (Relay relay = new Relay(database.jdbcUrl());
        HikariDataSource pool = TestPool.of(relay.dataSource(), 8);
        SqlStreams cutOff = SqlStreams.builder(pool).schema(database.schema()).build();
        Consumption running =
            cutOff.stream(stream.name())
                .group("g")
                .consume(
                    message -> {
                      handled.add(message.id());
                      return Outcome.done();
                    },
                    Consumer.QUICK.withMaxClaim(20))) {
      for (String statement :
          List.of("finish_clean", "claim_range", "finish_clean", "claim_range")) {
        int before = relay.cuts();
        relay.cut(cut, 1, statement);
        stream.produce(20);
        Await.until("a commit is cut", () -> relay.cuts() > before);
      }
      stream.awaitSettled();
    }
    assertThat(handled).containsAll(ids).hasSize(580);
  }

  @Test
  void messagesThatAHandlerProducesCommitWithItsMessage() {
    TestStream target = TestStream.register(database);
    List<Long> ids = stream.produce(100);
    Producer<RawPayload> producer = client.stream(target.name()).producer();
    Set<Long> failing = Set.of(ids.get(3), ids.get(70));
    try (Consumption running =
        consume(
            (message, connection) -> {
              producer.in(connection).produce(RawPayload.of("{\"from\":" + message.id() + "}"));
              if (failing.contains(message.id())) {
                throw new IllegalStateException("no");
              }
              return Outcome.done();
            })) {
      stream.awaitSettled();
    }
    assertThat(target.longs("SELECT (payload->>'from')::BIGINT FROM {log}"))
        .hasSize(98)
        .doesNotHaveDuplicates()
        .doesNotContainAnyElementsOf(failing);
  }

  @Test
  void b63_aPoolOfTwoIsEnough() {
    List<Long> ids = stream.produce(100);
    try (HikariDataSource pool = TestPool.of(database.dataSource(), 2);
        SqlStreams small = SqlStreams.builder(pool).schema(database.schema()).build();
        Consumption running =
            small.stream(stream.name())
                .group("g")
                .consumeTransactional(
                    (message, connection) -> done(connection, message.id()), Consumer.QUICK)) {
      stream.awaitSettled();
    }
    assertThat(effects()).containsExactlyInAnyOrderElementsOf(ids);
  }

  @Test
  void aHostilePoolAndDatabaseChangeNothing() {
    List<Long> ids = stream.produce(200);
    try (HikariDataSource pool = TestPool.hostile(database, 8);
        SqlStreams hostile = SqlStreams.builder(pool).schema(database.schema()).build();
        Consumption running =
            hostile.stream(stream.name())
                .group("g")
                .consumeTransactional(this::insertAndFailOnce, Consumer.QUICK)) {
      stream.awaitSettled();
      running.stop();
      assertThat(running.counters().done()).isEqualTo(200);
    }
    assertThat(effects()).containsExactlyInAnyOrderElementsOf(ids);
  }

  /** What a handler sets for its session comes back with the connection. */
  @Test
  void aSessionThatAHandlerLeftReadOnlyStopsNothing() {
    List<Long> ids = stream.produce(100);
    try (HikariDataSource pool = TestPool.of(database.dataSource(), 3);
        SqlStreams own = SqlStreams.builder(pool).schema(database.schema()).build();
        Consumption running =
            own.stream(stream.name())
                .group("g")
                .consumeTransactional(
                    (message, connection) -> {
                      if (message.id() % 10 == 0) {
                        try (Statement statement = connection.createStatement()) {
                          statement.execute("SET default_transaction_read_only = on");
                        }
                      }
                      return done(connection, message.id());
                    },
                    Consumer.QUICK)) {
      stream.awaitSettled();
      running.stop();
      assertThat(running.counters().done()).isEqualTo(100);
    }
    assertThat(effects()).containsExactlyInAnyOrderElementsOf(ids);
  }

  @Test
  void aGracefulStopRecordsWhatWasBegunAndGivesBackTheRest() {
    List<Long> ids = stream.produce(200);
    CountDownLatch begun = new CountDownLatch(20);
    Consumption first =
        consume(
            (message, connection) -> {
              insert(connection, message.id());
              begun.countDown();
              TimeUnit.MILLISECONDS.sleep(2);
              return Outcome.done();
            });
    Await.until("some are begun", () -> begun.getCount() == 0);
    first.stop();
    assertThat(first.counters().leaseLost()).isZero();
    assertThat(effects()).hasSize((int) first.counters().done());
    assertThat(stream.rows("SELECT session, reclaims FROM {lease}")).containsOnly("null|0");
    try (Consumption next = consume((message, connection) -> done(connection, message.id()))) {
      stream.awaitSettled();
    }
    assertThat(effects()).containsExactlyInAnyOrderElementsOf(ids);
  }

  @Test
  void effectsAreExactWhateverIsKilledFiftyTimes() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    List<Long> ids = stream.produce(5_000);
    try (Workers workers = new Workers(database, stream, directory)) {
      WorkerSettings settings =
          workers
              .settings()
              .withKind(WorkerSettings.Kind.EFFECTS)
              .withHandlers(4, 20, 4)
              .withLeaseMillis(1_000);
      Worker running = workers.start(settings);
      for (int kill = 0; kill < 50; kill++) {
        Worker next = workers.start(settings);
        pause(random.nextInt(60));
        running.kill();
        running = next;
      }
      stream.awaitSettled();
    }
    assertThat(effects()).as("seed %d", seed).containsExactlyInAnyOrderElementsOf(ids);
    assertThat(stream.longs("SELECT message_id FROM {queue}")).as("seed %d", seed).isEmpty();
  }

  /** Part of the random moment of a kill, not a wait for something. */
  private static void pause(int millis) {
    try {
      TimeUnit.MILLISECONDS.sleep(millis);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static RetryPolicy noRetry() {
    return RetryPolicy.defaults().withMaxRetries(0);
  }

  private Consumption consume(TransactionalHandler<RawPayload> handler) {
    return consume(handler, Consumer.QUICK);
  }

  private Consumption consume(TransactionalHandler<RawPayload> handler, ConsumeOptions options) {
    return client.stream(stream.name()).group("g").consumeTransactional(handler, options);
  }

  private Outcome done(Connection connection, long id) throws SQLException {
    insert(connection, id);
    return Outcome.done();
  }

  private void insert(Connection connection, long id) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("INSERT INTO " + stream.sql("{effects}") + " VALUES (" + id + ")");
    }
  }

  private void add(Connection connection, long row) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(
          "UPDATE " + stream.sql("{effects}") + "_rows SET n = n + 1 WHERE id = " + row);
    }
  }

  private List<Long> effects() {
    return stream.longs("SELECT message_id FROM {effects}");
  }
}
