package io.sqlstreams.internal.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.ConsumptionCounters;
import io.sqlstreams.Message;
import io.sqlstreams.Outcome;
import io.sqlstreams.OutcomeException;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.DeliveryLogMode;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.RetryPolicy;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.lab.Await;
import io.sqlstreams.lab.Consumer;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Every way in which a handler can end with a message, as rows. */
@SqlStreamsTest
class ExceptionIT {
  static final GroupConfig QUICK_RETRY =
      GroupConfig.defaults()
          .withRetry(
              RetryPolicy.defaults()
                  .withMaxRetries(2)
                  .withInitialBackoff(Duration.ofMillis(50))
                  .withBackoff(Duration.ofMillis(20), 2));

  TestDatabase database;
  SqlStreams client;
  TestStream stream;

  @BeforeEach
  void register() {
    client = TestStream.client(database);
    stream = TestStream.register(database, StreamConfig.defaults(), QUICK_RETRY);
  }

  @AfterEach
  void close() {
    client.close();
  }

  @Test
  void aThrowingHandlersMessageIsRetriedAndThenDead() {
    List<Long> ids = stream.produce(3);
    long bad = ids.get(1);
    try (Consumer consumer =
        Consumer.start(
            client,
            stream,
            message -> {
              if (message.id() == bad) {
                throw new IllegalArgumentException("no\0 good", new RuntimeException("root"));
              }
              return Outcome.done();
            })) {
      stream.awaitDead(1);
      assertThat(attempts(consumer, bad)).containsExactly(0, 1, 2);
      consumer.close();
      assertThat(consumer.counters().done()).isEqualTo(2);
      assertThat(consumer.counters().retried()).isEqualTo(2);
      assertThat(consumer.counters().dead()).isEqualTo(1);
    }
    assertThat(stream.rows("SELECT message_id, status, attempts, delays, last_error FROM {queue}"))
        .containsExactly(
            bad
                + "|dead|3|0|java.lang.IllegalArgumentException: no\uFFFD good, caused by java.lang.RuntimeException: root");
    assertThat(stream.rows("SELECT message_id, attempt, status FROM {deliveries} ORDER BY id"))
        .containsExactly(bad + "|0|failure", bad + "|1|failure", bad + "|2|failure");
    assertThat(stream.number("SELECT committed FROM {cursor}"))
        .as("dead rows don't hold it")
        .isEqualTo(ids.get(2));
  }

  @Test
  void anUnresolvedExceptionHoldsCommittedAndADeadOneDoesNot() {
    GroupConfig slow =
        QUICK_RETRY.withRetry(
            RetryPolicy.defaults().withMaxRetries(1).withInitialBackoff(Duration.ofSeconds(2)));
    stream = TestStream.register(database, StreamConfig.defaults(), slow);
    List<Long> ids = stream.produce(5);
    long bad = ids.get(2);
    try (Consumer consumer =
        Consumer.start(
            client,
            stream,
            message -> {
              if (message.id() == bad) {
                throw new IllegalStateException("no");
              }
              return Outcome.done();
            })) {
      Await.until(
          "it waits for its retry",
          () -> stream.number("SELECT count(*) FROM {queue} WHERE status = 'ready'") == 1);
      Await.until(
          "committed stands in front of it",
          () -> stream.number("SELECT committed FROM {cursor}") == bad - 1);
      stream.awaitDead(1);
      Await.until(
          "committed passes it",
          () -> stream.number("SELECT committed FROM {cursor}") == ids.get(4));
      // the wait was measured by the database's clock (b33)
      assertThat(
              stream.number(
                  "SELECT (extract(epoch FROM max(attempted_at) - min(attempted_at)) * 1000)::BIGINT FROM {deliveries}"))
          .isBetween(1_600L, 10_000L);
      assertThat(consumer.ids()).contains(bad);
    }
  }

  @Test
  void aDelayCountsAsADelayAndNotAsAFailure() {
    long id = stream.produce(1).get(0);
    try (Consumer consumer =
        Consumer.start(
            client,
            stream,
            message -> {
              if (message.delays() < 4) {
                return Outcome.delay(Duration.ofMillis(10));
              }
              throw new IllegalStateException("no");
            })) {
      stream.awaitDead(1);
      assertThat(attempts(consumer, id)).containsExactly(0, 1, 2, 3, 4, 5, 6);
      consumer.close();
      assertThat(consumer.counters().delayed()).isEqualTo(4);
    }
    assertThat(stream.rows("SELECT status, attempts, delays FROM {queue}"))
        .containsExactly("dead|7|4");
    assertThat(stream.rows("SELECT status, count(*) FROM {deliveries} GROUP BY status ORDER BY 1"))
        .containsExactly("delayed|4", "failure|3");
  }

  @Test
  void aHandlerCanGiveAMessageUp() {
    stream.produce(1);
    try (Consumer consumer = Consumer.start(client, stream, message -> Outcome.dead("not ours"))) {
      stream.awaitDead(1);
      assertThat(consumer.received()).hasSize(1);
    }
    assertThat(stream.rows("SELECT status, attempts, last_error FROM {queue}"))
        .containsExactly("dead|1|not ours");
    assertThat(stream.rows("SELECT attempt, status, error FROM {deliveries}"))
        .containsExactly("0|killed|not ours");
  }

  @Test
  void nullAndErrorsAreFailuresAndStopNothing() {
    List<Long> ids = stream.produce(4);
    try (Consumer consumer =
        Consumer.start(
            client,
            stream,
            message -> {
              if (message.attempt() > 0 || message.id() == ids.get(3)) {
                return Outcome.done();
              }
              if (message.id() == ids.get(0)) {
                return null;
              }
              if (message.id() == ids.get(1)) {
                throw new StackOverflowError();
              }
              Thread.currentThread().interrupt();
              throw new HostileException();
            })) {
      consumer.awaitReceived(7);
      Await.until("all are done", () -> stream.number("SELECT count(*) FROM {queue}") == 0);
    }
    assertThat(stream.rows("SELECT message_id, error FROM {deliveries} ORDER BY message_id"))
        .containsExactly(
            ids.get(0) + "|the handler returned null instead of an outcome",
            ids.get(1) + "|java.lang.StackOverflowError",
            ids.get(2) + "|" + HostileException.class.getName());
  }

  @Test
  void b49_whatCanNotBeReadGoesToTheExceptionQueueAndTheRestFlows() {
    record Order(String id, int amount) {}
    String deep = "[".repeat(50_000) + "]".repeat(50_000);
    stream =
        TestStream.register(
            database,
            StreamConfig.defaults().withPayloadType(io.sqlstreams.config.PayloadType.BYTEA),
            QUICK_RETRY);
    var raw = client.stream(stream.name()).producer();
    raw.produce(RawPayload.of("{\"id\":\"a\",\"amount\":1}"));
    long truncated = raw.produce(RawPayload.of("{\"id\":\"b\",\"am")).id();
    long wrongType = raw.produce(RawPayload.of("{\"id\":\"c\",\"amount\":\"many\"}")).id();
    long tooDeep = raw.produce(RawPayload.of(deep)).id();
    raw.produce(RawPayload.of("{\"id\":\"d\",\"amount\":2}"));
    List<Order> handled = new java.util.concurrent.CopyOnWriteArrayList<>();
    var running =
        client.stream(stream.name(), Order.class)
            .group("g")
            .consume(
                message -> {
                  handled.add(message.payload());
                  return Outcome.done();
                },
                Consumer.QUICK);
    stream.awaitDead(3);
    running.stop();
    assertThat(handled).containsExactlyInAnyOrder(new Order("a", 1), new Order("d", 2));
    assertThat(running.counters().undecodable()).isEqualTo(9);
    assertThat(stream.longs("SELECT message_id FROM {queue} ORDER BY 1"))
        .containsExactly(truncated, wrongType, tooDeep);
    assertThat(stream.rows("SELECT DISTINCT left(last_error, 27) FROM {queue}"))
        .as("the payload isn't in the error")
        .containsExactly("the payload can't be read: ");
    assertThat(stream.number("SELECT length(payload) FROM {log} WHERE id = " + tooDeep))
        .isEqualTo(deep.length());
  }

  @Test
  void errorsThatNoRetryMendsAndThrownOutcomesEndAtOnceHoweverDeepTheyAre() {
    List<Long> ids = stream.produce(4);
    try (Consumer consumer =
        Consumer.start(
            client,
            stream,
            message -> {
              if (message.id() == ids.get(0)) {
                throw new ExecutionException(new NumberFormatException("x"));
              }
              if (message.id() == ids.get(1)) {
                throw new ExecutionException(new OutcomeException(Outcome.dead("not ours")));
              }
              if (message.id() == ids.get(2) && message.attempt() == 0) {
                throw new IllegalStateException(
                    new OutcomeException(Outcome.delay(Duration.ofMillis(5))));
              }
              return Outcome.done();
            },
            Consumer.QUICK.withNotRetryable(Set.of(IllegalArgumentException.class)))) {
      stream.awaitDead(2);
      stream.awaitSettled();
      consumer.close();
      assertThat(consumer.counters().done()).isEqualTo(2);
      assertThat(consumer.counters().delayed()).isEqualTo(1);
      assertThat(consumer.counters().retried()).isZero();
    }
    assertThat(stream.rows("SELECT message_id, status, error FROM {deliveries} ORDER BY 1"))
        .containsExactly(
            ids.get(0)
                + "|killed|java.util.concurrent.ExecutionException: java.lang.NumberFormatException: x,"
                + " caused by java.lang.NumberFormatException: x",
            ids.get(1) + "|killed|not ours",
            ids.get(2)
                + "|delayed|java.lang.IllegalStateException: io.sqlstreams.OutcomeException: Delay[after=PT0.005S],"
                + " caused by io.sqlstreams.OutcomeException: Delay[after=PT0.005S]");
  }

  @Test
  void withTheLogOnEachDeliveryHasItsRowAndWithoutItNone() {
    stream =
        TestStream.register(
            database, StreamConfig.defaults(), QUICK_RETRY.withDeliveryLog(DeliveryLogMode.ALL));
    stream.produce(500);
    try (Consumer consumer = Consumer.start(client, stream, this::failSometimes)) {
      stream.awaitSettled();
      consumer.close();
      ConsumptionCounters counters = consumer.counters();
      assertThat(stream.rows("SELECT status, count(*) FROM {deliveries} GROUP BY 1 ORDER BY 1"))
          .containsExactly("failure|" + counters.retried(), "success|" + counters.done());
      assertThat(counters.done()).isEqualTo(500);
      assertThat(counters.retried()).isEqualTo(50);
    }
    assertThat(
            stream.number(
                "SELECT count(*) FROM (SELECT message_id FROM {deliveries} WHERE status = 'success' GROUP BY 1 HAVING count(*) > 1) AS twice"))
        .isZero();
    stream =
        TestStream.register(
            database, StreamConfig.defaults(), QUICK_RETRY.withDeliveryLog(DeliveryLogMode.OFF));
    stream.produce(100);
    try (Consumer consumer = Consumer.start(client, stream, this::failSometimes)) {
      stream.awaitSettled();
      consumer.close();
      assertThat(consumer.counters().retried()).isEqualTo(10);
    }
    assertThat(stream.number("SELECT count(*) FROM {deliveries}")).isZero();
  }

  private Outcome failSometimes(Message<RawPayload> message) {
    if (message.id() % 10 == 0 && message.attempt() == 0) {
      throw new IllegalStateException("not yet");
    }
    return Outcome.done();
  }

  /** Key A: message 1 waits for its retry, message 2 is ready; key B: message 3 is ready. */
  @Test
  void b22_oneRowThatCanNotBeWrittenStopsNeitherItsBatchNorTheQueue() {
    List<Long> ids =
        stream.longs(
            "INSERT INTO {log} (schema_version, message_key, payload) VALUES (1, 'A', '{}'), (1, 'A', '{}'), (1, 'B', '{}') RETURNING id");
    // what no state change of the library leaves: a row of a message that is still to come
    stream.execute(
        "INSERT INTO {queue} (consumer_group_id, message_id, status, concurrency, attempts, can_run_after)"
            + " VALUES ("
            + stream.group().id()
            + ", "
            + ids.get(1)
            + ", 'dead', 'parallel', 1, now())");
    try (Consumer consumer =
        Consumer.start(
            client,
            stream,
            message -> {
              if (message.attempt() == 0 && message.id() != ids.get(2)) {
                throw new IllegalStateException("no");
              }
              return Outcome.done();
            },
            Consumer.QUICK.withMaxClaim(10))) {
      Await.until(
          "all go on",
          () ->
              stream.number("SELECT count(*) FROM {lease}") == 0
                  && stream.number("SELECT committed FROM {cursor}") == ids.get(2));
      assertThat(attempts(consumer, ids.get(0))).containsExactly(0, 1);
      assertThat(attempts(consumer, ids.get(2))).containsExactly(0);
    }
    assertThat(stream.longs("SELECT message_id FROM {queue}")).containsExactly(ids.get(1));
  }

  @Test
  void retriesThatAreDueAndFreshMessagesShareTheHandlers() {
    stream.produce(3_000);
    stream.execute("UPDATE {cursor} SET claimed = 3000, settled_head = 3000");
    stream.execute(
        "INSERT INTO {queue} (consumer_group_id, message_id, status, concurrency, attempts, can_run_after)"
            + " SELECT "
            + stream.group().id()
            + ", i, 'ready', 'parallel', 1, now() FROM generate_series(1, 3000) AS i");
    stream.produce(3_000);
    try (Consumer consumer = Consumer.start(client, stream, message -> Outcome.done())) {
      consumer.awaitReceived(6_000);
      List<Long> firstHalf = consumer.ids().subList(0, 3_000);
      long retries = firstHalf.stream().filter(id -> id <= 3_000).count();
      assertThat(retries).as("neither starves").isBetween(900L, 2_100L);
      stream.awaitSettled();
    }
  }

  @Test
  void severalRetriesRunAtOnceAndTheNextOneIsWaitedFor() {
    stream.produce(40);
    CyclicBarrier together = new CyclicBarrier(4);
    try (Consumer consumer =
        Consumer.start(
            client,
            stream,
            message -> {
              if (message.attempt() == 0) {
                throw new IllegalStateException("not yet");
              }
              together.await(20, TimeUnit.SECONDS);
              return Outcome.done();
            },
            // the next poll by itself would come far too late
            Consumer.QUICK.withHandlers(4).withPollInterval(Duration.ofSeconds(600)))) {
      stream.awaitSettled();
      consumer.close();
      assertThat(consumer.counters().done()).isEqualTo(40);
    }
  }

  private static List<Integer> attempts(Consumer consumer, long id) {
    return consumer.received().stream().filter(m -> m.id() == id).map(Message::attempt).toList();
  }

  /** An exception whose own methods throw. */
  static final class HostileException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    @Override
    public String getMessage() {
      throw new IllegalStateException("no message");
    }

    @Override
    public synchronized Throwable getCause() {
      throw new IllegalStateException("no cause");
    }
  }
}
