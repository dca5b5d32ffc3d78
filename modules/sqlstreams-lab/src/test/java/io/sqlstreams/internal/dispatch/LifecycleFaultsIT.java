package io.sqlstreams.internal.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.ConsumerGroup;
import io.sqlstreams.Consumption;
import io.sqlstreams.Message;
import io.sqlstreams.Outcome;
import io.sqlstreams.Outgoing;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.TransactionalHandler;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.DeliveryLogMode;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.RetryPolicy;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.internal.lifecycle.Uninterruptibly;
import io.sqlstreams.lab.Await;
import io.sqlstreams.lab.Consumer;
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
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/** Faults that {@link LifecycleModelIT} has found, each by itself. */
@SqlStreamsTest
class LifecycleFaultsIT {
  private static final GroupConfig WITH_HISTORY =
      GroupConfig.defaults()
          .withDeliveryLog(DeliveryLogMode.ALL)
          .withRetry(RetryPolicy.defaults().withInitialBackoff(Duration.ofMillis(10)));

  private static final ProduceOptions SHORT =
      ProduceOptions.defaults().withTimeout(Duration.ofMillis(200));

  private static final Duration QUICK_BEAT = Consumer.QUICK.heartbeat();

  /** After so many messages a session claims more than one at a time. */
  private static final int WARM_UP = 20;

  TestDatabase database;

  @Test
  void whatIsDoneInARangeThatIsLostLaterHasItsHistoryAllTheSame() throws Exception {
    TestStream stream = TestStream.register(database, StreamConfig.defaults(), WITH_HISTORY);
    List<Long> ids = stream.produce(2);
    CountDownLatch recorded = new CountDownLatch(1);
    AtomicBoolean blocks = new AtomicBoolean(true);
    try (SqlStreams client = TestStream.client(database)) {
      ConsumerGroup<?> group = client.stream(stream.name()).group(stream.group().name());
      try (Consumer consumer =
          Consumer.start(
              client,
              stream,
              message -> {
                if (message.id() == ids.get(1) && blocks.getAndSet(false)) {
                  recorded.await();
                }
                return Outcome.done();
              },
              Consumer.QUICK.withHandlers(2))) {
        consumer.awaitReceived(2);
        Instant renewed = group.leases().get(0).expiresAt();
        Await.until(
            "the lease was renewed after the first message was done",
            () -> group.leases().get(0).expiresAt().isAfter(renewed.plus(QUICK_BEAT)));
        group.releaseLeases(group.leases().get(0).session());
        awaitDeliveries(stream, 1);
        recorded.countDown();
      }
      assertThat(stream.rows("SELECT message_id, attempt, status FROM {deliveries} ORDER BY 1"))
          .containsExactly(ids.get(0) + "|0|success", ids.get(1) + "|0|success");
    }
  }

  /**
   * The first message's time was over, so its failure stands; the second one's conflict rolls the
   * transaction back. Both once went round for ever in the same transaction.
   */
  @Test
  void aMessageWhoseTimeWasOverAndItsNeighbourInConflictGoOnEachByItself() throws Exception {
    TestStream stream = TestStream.register(database, StreamConfig.defaults(), WITH_HISTORY);
    List<Boolean> cancelledAtBegin = new CopyOnWriteArrayList<>();
    List<Long> ids = new CopyOnWriteArrayList<>();
    TransactionalHandler<RawPayload> handler =
        (message, connection) -> {
          if (ids.isEmpty()) {
            return Outcome.done();
          }
          if (message.id() == ids.get(0)) {
            cancelledAtBegin.add(message.cancelled());
            awaitCancelled(message);
            throw new IllegalStateException("gave up");
          }
          if (cancelledAtBegin.size() == 1) {
            throw new SQLException("as if two had waited for each other", "40P01");
          }
          return Outcome.done();
        };
    try (SqlStreams client = TestStream.client(database)) {
      try (Consumption running = consume(client, stream, handler)) {
        Await.until("the pace is known", () -> running.counters().done() >= WARM_UP);
        produceTwo(client, stream, ids);
        Await.until("it ran twice", () -> cancelledAtBegin.size() >= 2);
      }
      assertThat(cancelledAtBegin).doesNotContain(true);
    }
  }

  @Test
  void theCancelOfAMessageWhoseTimeIsOverDoesNotHitTheNextOne() throws Exception {
    TestStream stream = TestStream.register(database, StreamConfig.defaults(), WITH_HISTORY);
    List<Long> ids = new CopyOnWriteArrayList<>();
    CountDownLatch nextIsAtWork = new CountDownLatch(1);
    TransactionalHandler<RawPayload> handler =
        (message, connection) -> {
          if (!ids.isEmpty() && message.id() == ids.get(1)) {
            try (Statement statement = connection.createStatement()) {
              nextIsAtWork.countDown();
              statement.execute("SELECT pg_sleep(0.3)");
            }
          } else if (!ids.isEmpty() && message.attempt() == 0) {
            awaitCancelled(message);
          }
          return Outcome.done();
        };
    DataSource source =
        slowCancel(TestPool.shared(database), () -> nextIsAtWork.await(500, TimeUnit.MILLISECONDS));
    try (SqlStreams client = SqlStreams.builder(source).schema(database.schema()).build()) {
      try (Consumption running = consume(client, stream, handler)) {
        Await.until("the pace is known", () -> running.counters().done() >= WARM_UP);
        produceTwo(client, stream, ids);
        awaitDeliveries(stream, WARM_UP + 3);
        assertThat(running.counters().timedOut()).isEqualTo(1);
      }
      assertThat(
              stream.rows(
                  "SELECT message_id, attempt, status FROM {deliveries} WHERE message_id >= "
                      + ids.get(0)
                      + " ORDER BY 1, 2"))
          .containsExactly(
              ids.get(0) + "|0|failure", ids.get(0) + "|1|success", ids.get(1) + "|0|success");
    }
  }

  /**
   * Its result is recorded; it is due, and taken by the same session; then its first attempt ends.
   */
  @Test
  void aMessageThatIsTakenAgainAtOnceIsNotCountedAsALostLease() {
    TestStream stream = TestStream.register(database, StreamConfig.defaults(), WITH_HISTORY);
    stream.produce(20);
    try (SqlStreams client = TestStream.client(database);
        Consumption running =
            client.stream(stream.name())
                .group(stream.group().name())
                .consumeTransactional(
                    (message, connection) ->
                        message.delays() < 50 ? Outcome.delay(Duration.ZERO) : Outcome.done(),
                    Consumer.QUICK.withHandlers(8).withPollInterval(Duration.ofMillis(1)))) {
      stream.awaitSettled();
      running.stop();
      assertThat(running.counters().delayed()).isEqualTo(1_000);
      assertThat(running.counters().done()).isEqualTo(20);
      assertThat(running.counters().leaseLost()).isZero();
    }
  }

  private static void awaitCancelled(Message<?> message) throws InterruptedException {
    while (!message.cancelled()) {
      TimeUnit.MILLISECONDS.sleep(5);
    }
  }

  /** One with a short timeout, and one without, for one claim; their ids are there before. */
  private static void produceTwo(SqlStreams client, TestStream stream, List<Long> ids) {
    long last = stream.number("SELECT max(id) FROM {log}");
    ids.addAll(List.of(last + 1, last + 2));
    client.stream(stream.name())
        .producer()
        .produceAll(
            List.of(Outgoing.of(RawPayload.of("{}"), SHORT), Outgoing.of(RawPayload.of("{}"))));
  }

  private static Consumption consume(
      SqlStreams client, TestStream stream, TransactionalHandler<RawPayload> handler) {
    stream.produce(WARM_UP);
    return client.stream(stream.name())
        .group(stream.group().name())
        .consumeTransactional(handler, Consumer.QUICK.withHandlers(1).withMaxClaim(2));
  }

  private static void awaitDeliveries(TestStream stream, int rows) {
    Await.until(
        rows + " attempts are recorded, and nothing is left",
        () ->
            stream.number("SELECT count(*) FROM {lease}") == 0
                && stream.number("SELECT count(*) FROM {queue}") == 0
                && stream.number("SELECT count(*) FROM {deliveries}") >= rows
                && stream.number("SELECT max(id) FROM {log}")
                    == stream.number("SELECT claimed FROM {cursor}"));
  }

  /** Connections whose cancels have to wait before they go to the server. */
  private static DataSource slowCancel(DataSource source, Uninterruptibly.Wait pause) {
    return proxy(
        DataSource.class,
        source,
        "getConnection",
        connection ->
            proxy(
                Connection.class,
                (Connection) connection,
                "unwrap",
                unwrapped -> {
                  if (Thread.currentThread().getName().startsWith("sqlstreams-cancel")) {
                    Uninterruptibly.run(pause);
                  }
                  return unwrapped;
                }));
  }

  private static <T> T proxy(Class<T> type, T target, String method, UnaryOperator<Object> result) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (self, called, arguments) -> {
              try {
                Object value = called.invoke(target, arguments);
                return called.getName().equals(method) ? result.apply(value) : value;
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            }));
  }
}
