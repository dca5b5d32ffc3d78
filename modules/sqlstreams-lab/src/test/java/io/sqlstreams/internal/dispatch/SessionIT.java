package io.sqlstreams.internal.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.sqlstreams.Outcome;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.codec.SchemaVersion;
import io.sqlstreams.config.ConsumeOptions;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.Start;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.error.ClosedException;
import io.sqlstreams.error.GroupNotFoundException;
import io.sqlstreams.lab.Await;
import io.sqlstreams.lab.Consumer;
import io.sqlstreams.lab.TestPool;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A running consumption: its stop, its leases, its bounds, and what it endures. */
@SqlStreamsTest
class SessionIT {
  TestDatabase database;
  SqlStreams client;
  TestStream stream;

  @BeforeEach
  void register() {
    client = TestStream.client(database);
    stream = TestStream.register(database);
  }

  @AfterEach
  void close() {
    client.close();
  }

  @Test
  void b34_aLongHandlerIsNotDeliveredTwiceWhileItsProcessLives() {
    stream.produce(4);
    AtomicInteger ended = new AtomicInteger();
    ConsumeOptions options =
        Consumer.QUICK.withLease(Duration.ofSeconds(2), Duration.ofMillis(400));
    try (Consumer busy =
            Consumer.start(
                client,
                stream,
                message -> {
                  TimeUnit.SECONDS.sleep(10);
                  ended.incrementAndGet();
                  return Outcome.done();
                },
                options);
        Consumer idle = Consumer.start(client, stream, message -> Outcome.done(), options)) {
      Await.until(
          "all have ended",
          () -> busy.ids().size() + idle.ids().size() == 4 && ended.get() == busy.ids().size());
      settled();
      assertThat(busy.ids().size() + idle.ids().size()).isEqualTo(4);
      assertThat(busy.counters().leaseLost() + idle.counters().reclaimed()).isZero();
    }
  }

  @Test
  void aGracefulStopGivesBackWhatWasNotBegunAndAnotherGoesOnAtOnce() throws Exception {
    List<Long> ids = stream.produce(50);
    CountDownLatch begun = new CountDownLatch(2);
    CountDownLatch go = new CountDownLatch(1);
    ConsumeOptions two = Consumer.QUICK.withHandlers(2);
    Consumer first =
        Consumer.start(
            client,
            stream,
            message -> {
              begun.countDown();
              go.await();
              return Outcome.done();
            },
            two);
    begun.await();
    Thread stopping = new Thread(first::close);
    stopping.start();
    go.countDown();
    stopping.join();
    assertThat(first.consumption().awaitStopped(Duration.ZERO)).isTrue();
    int handled = first.ids().size();
    assertThat(first.counters().done()).isEqualTo(handled);
    try (Consumer second = Consumer.start(client, stream, message -> Outcome.done(), two)) {
      second.awaitReceived(50 - handled);
      settled();
      assertThat(second.ids()).doesNotContainAnyElementsOf(first.ids());
      assertThat(second.ids()).hasSize(50 - handled);
    }
    assertThat(ids).hasSize(50);
  }

  @Test
  void aStopDuringHandlersLongerThanTheLeaseRecordsThemOnce() throws Exception {
    List<Long> ids = stream.produce(6);
    CountDownLatch begun = new CountDownLatch(2);
    ConsumeOptions options =
        Consumer.QUICK.withHandlers(2).withLease(Duration.ofSeconds(1), Duration.ofMillis(250));
    Consumer stopped =
        Consumer.start(
            client,
            stream,
            message -> {
              begun.countDown();
              TimeUnit.SECONDS.sleep(3);
              return Outcome.done();
            },
            options);
    begun.await();
    try (Consumer other = Consumer.start(client, stream, message -> Outcome.done(), options)) {
      stopped.close();
      assertThat(stopped.received()).hasSize(2);
      assertThat(stopped.counters().done()).isEqualTo(2);
      assertThat(stopped.counters().leaseLost()).isZero();
      settled();
      assertThat(other.ids())
          .as("what was begun isn't delivered again")
          .doesNotContainAnyElementsOf(stopped.ids())
          .hasSize(ids.size() - 2);
    }
  }

  @Test
  void aStopDuringAHandlerThatIgnoresEverythingEndsWithItsTimeout() throws Exception {
    stream =
        TestStream.register(
            database,
            StreamConfig.defaults(),
            ExceptionIT.QUICK_RETRY.withTimeout(Duration.ofMillis(300)));
    stream.produce(1);
    CountDownLatch release = new CountDownLatch(1);
    AtomicReference<Boolean> cancelled = new AtomicReference<>();
    Consumer consumer =
        Consumer.start(
            client,
            stream,
            message -> {
              boolean over = false;
              while (!over) {
                try {
                  over = release.await(60, TimeUnit.SECONDS);
                } catch (InterruptedException e) {
                  cancelled.set(message.cancelled());
                }
              }
              return Outcome.done();
            });
    consumer.awaitReceived(1);
    consumer.close();
    assertThat(cancelled.get()).isTrue();
    assertThat(consumer.counters().abandoned()).isEqualTo(1);
    assertThat(consumer.counters().timedOut()).isEqualTo(1);
    assertThat(stream.rows("SELECT status, attempts, left(last_error, 24) FROM {queue}"))
        .containsExactly("ready|1|the handler took longer ");
    release.countDown();
    Await.until("the thread is back", () -> consumer.counters().abandoned() == 0);
    assertThat(consumer.counters().done()).as("its late result doesn't count").isZero();
  }

  @Test
  void anInterruptedHandlerThatReturnsInTimeKeepsItsThreadAndItsOutcome() {
    stream =
        TestStream.register(
            database,
            StreamConfig.defaults(),
            ExceptionIT.QUICK_RETRY.withTimeout(Duration.ofMillis(100)));
    stream.produce(3);
    try (Consumer consumer =
        Consumer.start(
            client,
            stream,
            message -> {
              if (message.attempt() == 0) {
                TimeUnit.SECONDS.sleep(60);
              }
              return Outcome.done();
            },
            Consumer.QUICK.withHandlers(1))) {
      consumer.awaitReceived(6);
      settled();
      assertThat(consumer.counters().timedOut()).isEqualTo(3);
      assertThat(consumer.counters().abandoned()).isZero();
    }
  }

  /**
   * Virtual threads share few carriers, so the threads that take their places must not be virtual.
   */
  @Test
  void handlersThatSpinForEverHoldUpNobodyElse() {
    stream =
        TestStream.register(
            database,
            StreamConfig.defaults(),
            GroupConfig.defaults().withTimeout(Duration.ofMillis(300)));
    List<Long> ids = stream.produce(60);
    Set<Long> spinning = Set.copyOf(ids.subList(0, 4));
    AtomicReference<Boolean> release = new AtomicReference<>(false);
    Consumer consumer =
        Consumer.start(
            client,
            stream,
            message -> {
              while (spinning.contains(message.id()) && !release.get()) {
                Thread.onSpinWait();
              }
              return Outcome.done();
            });
    try {
      Await.until("the others are handled", () -> consumer.counters().done() == 56);
      Await.until("each is abandoned in its turn", () -> consumer.counters().abandoned() == 4);
      consumer.close();
    } finally {
      release.set(true); // else they would keep the carriers of every later test busy
    }
    Await.until("the threads are back", () -> consumer.counters().abandoned() == 0);
  }

  @Test
  void aHandlerMayStopItsOwnConsumptionAndStopsAreIdempotent() throws Exception {
    stream.produce(10);
    AtomicReference<Consumer> self = new AtomicReference<>();
    CountDownLatch known = new CountDownLatch(1);
    Consumer consumer =
        Consumer.start(
            client,
            stream,
            message -> {
              known.await();
              self.get().close();
              return Outcome.done();
            },
            Consumer.QUICK.withHandlers(1));
    self.set(consumer);
    known.countDown();
    consumer.consumption().awaitStopped();
    consumer.close();
    consumer.consumption().stop();
    assertThat(consumer.ids()).hasSize(1);
    assertThat(consumer.counters().done()).isEqualTo(1);
  }

  @Test
  void closingTheClientStopsEverythingAndRefusesMore() {
    stream.produce(10);
    Consumer consumer = Consumer.start(client, stream, message -> Outcome.done());
    consumer.awaitReceived(10);
    client.close();
    client.close();
    assertThatThrownBy(() -> Consumer.start(client, stream, message -> Outcome.done()))
        .isInstanceOf(ClosedException.class);
    assertThat(stream.number("SELECT count(*) FROM {lease}")).isZero();
  }

  @Test
  void aGroupThatIsDestroyedEndsItsConsumption() throws Exception {
    Consumer consumer = Consumer.start(client, stream, message -> Outcome.done());
    client.stream(stream.name()).group("g").destroy();
    assertThat(consumer.consumption().awaitStopped(Duration.ofSeconds(30))).isTrue();
    assertThatThrownBy(() -> Consumer.start(client, stream, message -> Outcome.done()))
        .isInstanceOf(GroupNotFoundException.class);
  }

  @Test
  void aStreamThatIsDestroyedEndsItsConsumptions() throws Exception {
    Consumer consumer = Consumer.start(client, stream, message -> Outcome.done());
    client.stream(stream.name()).destroy();
    assertThat(consumer.consumption().awaitStopped(Duration.ofSeconds(30))).isTrue();
  }

  @Test
  void aConsumptionThatCanNotBeginLeavesNothingBehind() {
    try (HikariDataSource pool = TestPool.of(database.dataSource(), 1)) {
      pool.setConnectionTimeout(300);
      SqlStreams small = SqlStreams.builder(pool).schema(database.schema()).build();
      Consumer first = Consumer.start(small, stream, message -> Outcome.done());
      // the only connection is the heartbeat's
      assertThatThrownBy(() -> Consumer.start(small, stream, message -> Outcome.done()))
          .isInstanceOf(io.sqlstreams.error.DatabaseException.class)
          .hasMessageContaining("size of the pool");
      first.close();
      small.close();
      assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
    }
  }

  @Test
  void resultsThatCanNotBeRecordedBoundWhatIsClaimed() {
    stream =
        TestStream.register(
            database,
            StreamConfig.defaults(),
            ExceptionIT.QUICK_RETRY.withTimeout(Duration.ofSeconds(20)));
    ConsumeOptions small =
        Consumer.QUICK.withHandlers(2).withMaxClaim(10).withPrefetch(20, 1 << 20);
    int bound = 20 + (2 + 4) * 10;
    stream.execute(
        """
        CREATE FUNCTION {schema}.hold_results() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN PERFORM pg_advisory_xact_lock_shared(4711); RETURN NEW; END $$;
        CREATE TRIGGER hold_results BEFORE INSERT ON {queue}
          FOR EACH ROW EXECUTE FUNCTION {schema}.hold_results()
        """);
    try (Consumer consumer =
            Consumer.start(
                client,
                stream,
                message -> {
                  if (message.attempt() == 0) {
                    throw new IllegalStateException("no");
                  }
                  return Outcome.done();
                },
                small);
        // ends before the consumer, whatever happens: its stop waits for the results
        var lock = stream.begin("holder")) {
      lock.runs("SELECT pg_advisory_xact_lock(4711)");
      stream.produce(500);
      consumer.awaitReceived(bound);
      long claimed = consumer.counters().claimed();
      assertThat(claimed).isBetween((long) bound, bound + 10L);
      lock.commits();
      settled();
      consumer.close();
      assertThat(consumer.counters().done()).isEqualTo(500);
    }
  }

  @Test
  void whatWaitsInMemoryIsBoundedInBytesAndOneLargeMessagePassesAllTheSame() throws Exception {
    stream.execute(
        "INSERT INTO {log} (schema_version, payload)"
            + " SELECT 1, ('\"' || repeat('x', CASE WHEN i = 5 THEN 1000000 ELSE 100000 END) || '\"')::json"
            + " FROM generate_series(1, 20) AS i");
    CountDownLatch go = new CountDownLatch(1);
    ConsumeOptions bounded = Consumer.QUICK.withHandlers(1).withPrefetch(1_000, 250_000);
    try (Consumer consumer =
        Consumer.start(
            client,
            stream,
            message -> {
              go.await();
              return Outcome.done();
            },
            bounded)) {
      consumer.awaitReceived(1);
      // one runs; those that fit wait; nothing more is claimed however long it takes
      String renewed = stream.rows("SELECT max(expires_at) FROM {lease}").get(0);
      Await.until(
          "a heartbeat has passed",
          () -> !stream.rows("SELECT max(expires_at) FROM {lease}").get(0).equals(renewed));
      assertThat(consumer.counters().claimed()).isBetween(1L, 5L);
      go.countDown();
      settled();
      assertThat(consumer.ids()).isEqualTo(stream.longs("SELECT id FROM {log} ORDER BY id"));
    }
  }

  @Test
  void aGroupThatStartsAtTheHeadGetsWhatComesLater() {
    stream.produce(5);
    client.stream(stream.name())
        .group("late")
        .register(GroupConfig.defaults().withStart(Start.head()));
    List<Long> later = stream.produce(3);
    Set<Long> received = ConcurrentHashMap.newKeySet();
    client.stream(stream.name())
        .group("late")
        .consume(
            message -> {
              received.add(message.id());
              return Outcome.done();
            });
    Await.until("they came", () -> received.size() >= 3);
    assertThat(received).containsExactlyInAnyOrderElementsOf(later);
  }

  @SchemaVersion(2)
  record Second(int n) {}

  @Test
  void b49_aMessageOfAnotherSchemaVersionGoesToTheExceptionQueue() {
    long other = client.stream(stream.name()).producer().produce(RawPayload.of("{\"n\":1}")).id();
    long wanted = client.stream(stream.name(), Second.class).producer().produce(new Second(7)).id();
    Set<Long> received = ConcurrentHashMap.newKeySet();
    client.stream(stream.name(), Second.class)
        .group("g")
        .consume(
            message -> {
              received.add(message.id());
              return Outcome.done();
            });
    Await.until("it is there", () -> stream.number("SELECT count(*) FROM {queue}") == 1);
    assertThat(stream.rows("SELECT message_id, last_error FROM {queue}"))
        .containsExactly(
            other
                + "|the payload can't be read: it has schema version 1, and this consumer reads version 2");
    Await.until("the other one is handled", () -> received.contains(wanted));
    assertThat(received).containsExactly(wanted);
  }

  @Test
  void b63_aPoolOfTwoWithTenHandlersThatBorrowAndSend() {
    TestStream target = TestStream.register(database);
    List<Long> ids = stream.produce(100);
    try (HikariDataSource pool = TestPool.of(database.dataSource(), 2);
        SqlStreams small = SqlStreams.builder(pool).schema(database.schema()).build();
        Consumer consumer =
            Consumer.start(
                small,
                stream,
                message -> {
                  try (Connection connection = pool.getConnection()) {
                    small.stream(target.name())
                        .producer()
                        .in(connection)
                        .produce(message.payload());
                  }
                  return Outcome.done();
                },
                Consumer.QUICK.withHandlers(10))) {
      settled();
      assertThat(consumer.ids()).containsAll(ids);
      assertThat(target.number("SELECT count(*) FROM {log}")).isEqualTo(100);
      assertThat(consumer.counters().leaseLost()).isZero();
    }
  }

  @Test
  void b63_anExhaustedPoolStopsNeitherHeartbeatsNorTheLoops() throws Exception {
    stream.produce(20);
    try (HikariDataSource pool = TestPool.of(database.dataSource(), 2)) {
      pool.setConnectionTimeout(500);
      try (SqlStreams small = SqlStreams.builder(pool).schema(database.schema()).build()) {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        try (Consumer consumer =
            Consumer.start(
                small,
                stream,
                message -> {
                  begun.countDown();
                  go.await();
                  return Outcome.done();
                })) {
          begun.await();
          try (Connection last = pool.getConnection()) {
            assertThat(last.isValid(1)).isTrue();
            long renewals = 3;
            for (long i = 0; i < renewals; i++) {
              String before = stream.rows("SELECT max(expires_at) FROM {lease}").get(0);
              Await.until(
                  "the leases are renewed",
                  () -> !stream.rows("SELECT max(expires_at) FROM {lease}").get(0).equals(before));
            }
            go.countDown();
            Await.until("everything in memory is handled", () -> consumer.ids().size() >= 4);
          }
          settled();
          assertThat(consumer.counters().leaseLost()).isZero();
          assertThat(consumer.ids()).hasSize(20);
        }
      }
    }
  }

  @Test
  void b60_b62_aHostilePoolWorksWithoutSerializationFailures() {
    try (HikariDataSource pool = TestPool.hostile(database, 8)) {
      try (SqlStreams hostile =
          SqlStreams.builder(pool).schema(database.schema()).allowDestroy(true).build()) {
        String name = "hostile";
        hostile.stream(name).register();
        hostile.stream(name).group("g").register(ExceptionIT.QUICK_RETRY);
        Set<Long> done = ConcurrentHashMap.newKeySet();
        var options = Consumer.QUICK;
        for (int worker = 0; worker < 4; worker++) {
          hostile.stream(name)
              .group("g")
              .consume(
                  message -> {
                    if (message.attempt() == 0 && message.id() % 20 == 0) {
                      throw new IllegalStateException("try again");
                    }
                    done.add(message.id());
                    return Outcome.done();
                  },
                  options);
        }
        for (int i = 0; i < 2_000; i++) {
          hostile.stream(name).producer().produceAsync(RawPayload.of("{}"));
        }
        Await.until("all are done", () -> done.size() == 2_000);
      }
    }
    assertThat(database.server().serverLog().orElseThrow().reports("40001"))
        .noneMatch(report -> report.contains(database.schema()));
    assertThat(database.deadlocks()).isEmpty();
  }

  @Test
  void aLostConnectionEverywhereIsSurvived() {
    stream.produce(10);
    try (Consumer consumer = Consumer.start(client, stream, message -> Outcome.done())) {
      consumer.awaitReceived(10);
      try (Connection connection = database.dataSource().getConnection();
          var statement = connection.createStatement()) {
        statement.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND application_name = '"
                + database.schema()
                + "'");
      } catch (java.sql.SQLException e) {
        throw new IllegalStateException(e);
      }
      Await.until("new messages can be written", this::canProduce);
      settled();
      assertThat(consumer.ids()).containsAll(stream.longs("SELECT id FROM {log}"));
    }
  }

  private boolean canProduce() {
    try {
      stream.produce(10);
      return true;
    } catch (IllegalStateException e) {
      return false;
    }
  }

  private void settled() {
    Await.until(
        "the group is done with everything",
        () ->
            stream.number("SELECT count(*) FROM {queue} WHERE status <> 'dead'") == 0
                && stream.number("SELECT committed FROM {cursor}")
                    == stream.number("SELECT max(id) FROM {log}"));
  }
}
