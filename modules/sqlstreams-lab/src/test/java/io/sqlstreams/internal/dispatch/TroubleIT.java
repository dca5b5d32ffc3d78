package io.sqlstreams.internal.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.sqlstreams.Consumption;
import io.sqlstreams.Outcome;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.TransactionalHandler;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.ConsumeOptions;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.lab.Await;
import io.sqlstreams.lab.Consumer;
import io.sqlstreams.lab.Relay;
import io.sqlstreams.lab.TestPool;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;

/** Whose fault it is when several things go wrong at once. */
@SqlStreamsTest
class TroubleIT {
  static final ConsumeOptions ONE_HANDLER = Consumer.QUICK.withHandlers(1);

  TestDatabase database;
  SqlStreams client;
  TestStream stream;

  @BeforeEach
  void register() {
    client = TestStream.client(database);
    register(TransactionalIT.QUICK_RETRY);
  }

  private void register(GroupConfig config) {
    stream = TestStream.register(database, StreamConfig.defaults(), config);
    stream.execute(
        "DROP TABLE IF EXISTS {effects}; CREATE TABLE {effects} (message_id BIGINT NOT NULL)");
  }

  @AfterEach
  void close() {
    client.close();
  }

  @Test
  void aHandlerThatTookTooLongIsNotCalledAgainBecauseItsConnectionBroke() {
    register(
        TransactionalIT.QUICK_RETRY
            .withTimeout(Duration.ofMillis(300))
            .withRetry(TransactionalIT.QUICK_RETRY.retry().withMaxRetries(0)));
    long slow = stream.produce(3).get(1);
    AtomicInteger calls = new AtomicInteger();
    try (Consumption running =
        consume(
            client,
            (message, connection) -> {
              if (message.id() == slow) {
                calls.incrementAndGet();
                awaitInterrupt();
                execute(connection, "SELECT pg_terminate_backend(pg_backend_pid())");
              }
              return done(connection, message.id());
            })) {
      stream.awaitSettled();
    }
    assertThat(calls).hasValue(1);
    assertThat(stream.rows("SELECT message_id, status FROM {queue}"))
        .containsExactly(slow + "|dead");
    assertThat(stream.rows("SELECT last_error FROM {queue}").get(0)).contains("took longer than");
    assertThat(effects()).hasSize(2).doesNotContain(slow);
  }

  /**
   * Steps: message 1 hears the interrupt and returns all the same; message 2 makes the transaction
   * roll back; message 1 is called again.
   */
  @Test
  void aMessageThatIsCalledAgainIsNotCancelledFromTheStart() {
    register(TransactionalIT.QUICK_RETRY.withTimeout(Duration.ofMillis(700)));
    List<Boolean> cancelled = new CopyOnWriteArrayList<>();
    AtomicInteger second = new AtomicInteger();
    AtomicLong first = new AtomicLong(Long.MAX_VALUE);
    try (Consumption running =
        consume(
            client,
            (message, connection) -> {
              if (message.id() == first.get()) {
                cancelled.add(message.cancelled());
                if (cancelled.size() == 1) {
                  awaitInterrupt();
                }
              } else if (message.id() > first.get() && second.getAndIncrement() == 0) {
                throw new SQLException("deadlock", "40P01");
              }
              return done(connection, message.id());
            })) {
      // one that is known to be fast claims both at once
      first.set(stream.produce(100).get(99) + 1);
      stream.awaitSettled();
      stream.produce(2);
      stream.awaitSettled();
    }
    assertThat(cancelled).containsExactly(false, false);
    assertThat(effects()).hasSize(102).doesNotHaveDuplicates();
  }

  /** Steps: a deadlock; the pool has no connection for a while; another deadlock. */
  @Test
  void anOutageIsNotCountedAmongTheDeadlocksOfAMessage() {
    long id = stream.produce(1).get(0);
    AtomicInteger calls = new AtomicInteger();
    AtomicInteger away = new AtomicInteger();
    try (SqlStreams shaky = SqlStreams.builder(failing(away)).schema(database.schema()).build();
        Consumption running =
            consume(
                shaky,
                (message, connection) -> {
                  if (calls.getAndIncrement() < 2) {
                    away.set(4);
                    throw new SQLException("deadlock", "40P01");
                  }
                  return done(connection, message.id());
                })) {
      stream.awaitSettled();
      running.stop();
      assertThat(running.counters().retried()).isZero();
    }
    assertThat(effects()).containsExactly(id);
  }

  /** Fails so many requests of handlers. */
  private DataSource failing(AtomicInteger away) {
    DataSource source = TestPool.shared(database);
    return (DataSource)
        Proxy.newProxyInstance(
            DataSource.class.getClassLoader(),
            new Class<?>[] {DataSource.class},
            (proxy, method, arguments) -> {
              if (Thread.currentThread().getName().contains("-handler-")
                  && method.getName().equals("getConnection")
                  && away.getAndUpdate(n -> Math.max(0, n - 1)) > 0) {
                throw new SQLException("no connection", "08001");
              }
              try {
                return method.invoke(source, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  @Test
  void theLookWhetherACommitHappenedNeedsNoSecondConnection() throws Exception {
    List<Long> ids = stream.produce(20);
    try (Relay relay = new Relay(database.jdbcUrl());
        HikariDataSource pool = TestPool.of(relay.dataSource(), 2);
        SqlStreams cutOff = SqlStreams.builder(pool).schema(database.schema()).build()) {
      relay.cut(Relay.Cut.AFTER_COMMIT, 1, "INSERT INTO " + stream.sql("{effects}"));
      try (Consumption running =
          consume(cutOff, (message, connection) -> done(connection, message.id()))) {
        stream.awaitSettled();
        running.stop();
        assertThat(relay.cuts()).isEqualTo(1);
        assertThat(running.counters().done()).isEqualTo(20);
        assertThat(running.counters().leaseLost()).isZero();
      }
    }
    assertThat(effects()).containsExactlyInAnyOrderElementsOf(ids);
  }

  /** A range whose result the database refuses is held on; the retries of others go on. */
  @Test
  void aRangeThatCanNotBeRecordedStopsNoRetries() {
    List<Long> ids = stream.produce(2);
    long refused = ids.get(0);
    stream.execute(
        "CREATE OR REPLACE FUNCTION {schema}.refuse() RETURNS trigger LANGUAGE plpgsql AS $$"
            + " BEGIN RAISE EXCEPTION 'refused'; END $$;"
            + " CREATE TRIGGER refuse BEFORE INSERT ON {queue} FOR EACH ROW WHEN (NEW.message_id = "
            + refused
            + ") EXECUTE FUNCTION {schema}.refuse()");
    try (Consumer consumer =
        Consumer.start(
            client,
            stream,
            message -> {
              if (message.attempt() == 0) {
                throw new IllegalStateException("not yet");
              }
              return Outcome.done();
            },
            ONE_HANDLER.withMaxClaim(1))) {
      Await.until(
          "the other one's retry is recorded",
          () ->
              consumer.ids().lastIndexOf(ids.get(1)) > consumer.ids().indexOf(ids.get(1))
                  && stream.number("SELECT count(*) FROM {queue}") == 0);
      stream.execute("DROP TRIGGER refuse ON {queue}");
      stream.awaitSettled();
    }
  }

  @Test
  void aConnectionThatIsLeftInACopyIsTheFaultOfItsMessage() {
    List<Long> ids = stream.produce(5);
    long bad = ids.get(2);
    try (Consumption running =
        consume(
            client,
            (message, connection) -> {
              if (message.id() == bad) {
                connection
                    .unwrap(PGConnection.class)
                    .getCopyAPI()
                    .copyIn(stream.sql("COPY {effects} FROM STDIN"));
                throw new IllegalStateException("in the middle of it");
              }
              return done(connection, message.id());
            })) {
      stream.awaitSettled();
    }
    assertThat(stream.longs("SELECT message_id FROM {queue} WHERE status = 'dead'"))
        .containsExactly(bad);
    assertThat(effects()).hasSize(4).doesNotContain(bad);
  }

  private Consumption consume(SqlStreams with, TransactionalHandler<RawPayload> handler) {
    return with.stream(stream.name()).group("g").consumeTransactional(handler, ONE_HANDLER);
  }

  private static void awaitInterrupt() {
    try {
      new CountDownLatch(1).await();
    } catch (InterruptedException e) {
      // as expected
    }
  }

  private Outcome done(Connection connection, long id) throws SQLException {
    execute(connection, "INSERT INTO " + stream.sql("{effects}") + " VALUES (" + id + ")");
    return Outcome.done();
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private List<Long> effects() {
    return stream.longs("SELECT message_id FROM {effects}");
  }
}
