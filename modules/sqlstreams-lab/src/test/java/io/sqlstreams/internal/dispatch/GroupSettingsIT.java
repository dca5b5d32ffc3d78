package io.sqlstreams.internal.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sqlstreams.ConsumerGroup;
import io.sqlstreams.Outcome;
import io.sqlstreams.Outgoing;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.Binding;
import io.sqlstreams.config.Concurrency;
import io.sqlstreams.config.DeliveryLimits;
import io.sqlstreams.config.DeliveryLogMode;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.RetryPolicy;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.lab.Await;
import io.sqlstreams.lab.Consumer;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a group declares and a message wishes, on its way to what happens. */
@SqlStreamsTest
class GroupSettingsIT {
  static final GroupConfig QUICK_RETRY =
      GroupConfig.defaults()
          .withRetry(
              RetryPolicy.defaults()
                  .withMaxRetries(1)
                  .withInitialBackoff(Duration.ofMillis(20))
                  .withBackoff(Duration.ofMillis(20), 1));

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

  private ConsumerGroup<RawPayload> group() {
    return client.stream(stream.name()).group("g");
  }

  @Test
  void aRunningConsumerFollowsANewDeclaration() {
    try (Consumer consumer =
        Consumer.start(
            client,
            stream,
            message -> {
              throw new IllegalStateException("no");
            },
            Consumer.QUICK.withConfigRefreshInterval(Duration.ofMillis(50)))) {
      long first = stream.produce(1).get(0);
      stream.awaitDead(1);
      assertThat(attempts(first)).isEqualTo(2);

      group()
          .register(
              QUICK_RETRY
                  .withRetry(QUICK_RETRY.retry().withMaxRetries(4))
                  .withDeliveryLog(DeliveryLogMode.OFF));
      Await.until(
          "a message is tried more often",
          () -> {
            long id = stream.produce(1).get(0);
            Await.until("it is dead", () -> !isOpen(id));
            return attempts(id) == 5;
          });
      long last = stream.produce(1).get(0);
      Await.until("it is dead", () -> !isOpen(last));
      assertThat(attempts(last)).isEqualTo(5);
      assertThat(stream.number("SELECT count(*) FROM {deliveries} WHERE message_id = " + last))
          .as("nothing is logged any more")
          .isZero();
    }
  }

  @Test
  void settingsThatCanNotBeReadLeaveThoseFromBeforeInForce() {
    try (Consumer consumer =
        Consumer.start(
            client,
            stream,
            message -> Outcome.done(),
            Consumer.QUICK.withConfigRefreshInterval(Duration.ofMillis(50)))) {
      stream.execute(
          "UPDATE {schema}.worker_config SET metadata = '{\"timeout_ns\": -1}' WHERE consumer_group_id = "
              + stream.group().id());
      long changedAt = System.nanoTime();
      AtomicInteger produced = new AtomicInteger();
      Await.until(
          "they are read a few times, and messages keep coming",
          () -> {
            stream.produce(1);
            consumer.awaitReceived(produced.incrementAndGet());
            return System.nanoTime() - changedAt > Duration.ofMillis(500).toNanos();
          });
    }
  }

  @Test
  void aDifferenceIsLoggedOldToNewAndAnEqualDeclarationWritesNothing() {
    GroupConfig changed = QUICK_RETRY.withTimeout(Duration.ofSeconds(7));
    group().register(changed);
    group().register(changed);
    group().register(QUICK_RETRY);
    assertThat(
            stream.rows(
                "SELECT log.previous->>'timeout_ns', log.metadata->>'timeout_ns', log.previous IS NULL"
                    + " FROM {schema}.worker_config_log AS log JOIN {schema}.worker_config AS worker ON worker.id = log.worker_config_id"
                    + " WHERE worker.consumer_group_id = "
                    + stream.group().id()
                    + " ORDER BY log.id"))
        .containsExactly("null|null|t", "null|7000000000|f", "7000000000|null|f");
    assertThat(group().get().orElseThrow().config()).isEqualTo(QUICK_RETRY);
  }

  @Test
  void aDeclarationThatContradictsItselfChangesNothing() {
    assertThatThrownBy(
            () ->
                group()
                    .register(
                        QUICK_RETRY.withLimits(
                            DeliveryLimits.defaults()
                                .withTimeout(Duration.ofMinutes(1), Duration.ofMinutes(2)))))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContainingAll("timeout", "PT30S", "PT1M");
    assertThat(group().get().orElseThrow().config()).isEqualTo(QUICK_RETRY);
  }

  @Test
  void everythingADeclarationSaysComesBack() {
    GroupConfig all =
        new GroupConfig(
            QUICK_RETRY.start(),
            new RetryPolicy(
                5,
                Duration.ofSeconds(2),
                Duration.ofSeconds(3),
                1.5,
                Duration.ofMinutes(4),
                0.1,
                6),
            Duration.ofSeconds(8),
            DeliveryLimits.defaults()
                .withTimeout(Duration.ofSeconds(1), Duration.ofSeconds(9))
                .withRetries(1, 10)
                .withBackoff(Duration.ofSeconds(1), Duration.ofMinutes(5))
                .withMaxDelays(7),
            2,
            DeliveryLogMode.ALL,
            Concurrency.ORDERED,
            Concurrency.EXCLUSIVE,
            Set.of(
                Binding.routingKey("orders.eu.*"),
                Binding.header("region", "eu").and("tier", "gold")));
    group().register(all);
    assertThat(group().get().orElseThrow().config()).isEqualTo(all);
  }

  /** By the statement for a few messages, and by COPY. */
  @ParameterizedTest
  @ValueSource(ints = {3, 300})
  void aMessageGetsWhatItAsksForWithinTheGroupsLimits(int messages) {
    group()
        .register(
            QUICK_RETRY
                .withTimeout(Duration.ofMillis(500))
                .withLimits(
                    DeliveryLimits.defaults()
                        .withRetries(0, 2)
                        .withTimeout(Duration.ofMillis(100), Duration.ofSeconds(60))));
    RetryPolicy quick = QUICK_RETRY.retry();
    List<ProduceOptions> wishes =
        List.of(
            ProduceOptions.defaults(),
            ProduceOptions.defaults().withRetry(quick.withMaxRetries(0)),
            ProduceOptions.defaults().withRetry(quick.withMaxRetries(9)));
    List<Outgoing<RawPayload>> outgoing =
        IntStream.range(0, messages)
            .mapToObj(i -> Outgoing.of(RawPayload.of("{}"), wishes.get(i % 3)))
            .toList();
    long first = client.stream(stream.name()).producer().produceAll(outgoing).get(0).id();
    try (Consumer consumer =
        Consumer.start(
            client,
            stream,
            message -> {
              throw new IllegalStateException("no");
            },
            Consumer.QUICK.withHandlers(20))) {
      stream.awaitDead(messages);
      assertThat(consumer.received()).isNotEmpty();
    }
    assertThat(
            stream.rows(
                "SELECT (message_id - "
                    + first
                    + ") % 3, min(attempts), max(attempts) FROM {queue} GROUP BY 1 ORDER BY 1"))
        .as("the group's own, none at all, and more than it grants")
        .containsExactly("0|2|2", "1|1|1", "2|3|3");
  }

  @Test
  void aMessagesOwnTimeoutHoldsForIt() {
    group()
        .register(
            QUICK_RETRY
                .withRetry(QUICK_RETRY.retry().withMaxRetries(0))
                .withTimeout(Duration.ofSeconds(50)));
    client.stream(stream.name())
        .producer()
        .produce(RawPayload.of("{}"), ProduceOptions.defaults().withTimeout(Duration.ofMillis(50)));
    try (Consumer consumer =
        Consumer.start(
            client,
            stream,
            message -> {
              while (!message.cancelled()) {
                Thread.onSpinWait();
              }
              throw new IllegalStateException("gave up");
            })) {
      stream.awaitDead(1);
      assertThat(consumer.received()).hasSize(1);
    }
    assertThat(stream.rows("SELECT last_error FROM {queue}").get(0))
        .contains("took longer than PT0.05S", "gave up");
  }

  @Test
  void tooManyDelaysEndAMessage() {
    group().register(QUICK_RETRY.withRetry(QUICK_RETRY.retry().withMaxDelays(3)));
    stream.produce(1);
    try (Consumer consumer =
        Consumer.start(client, stream, message -> Outcome.delay(Duration.ofMillis(1)))) {
      stream.awaitDead(1);
      consumer.close();
      assertThat(consumer.received()).hasSize(4);
      assertThat(consumer.counters().delayed()).isEqualTo(3);
      assertThat(consumer.counters().dead()).isEqualTo(1);
    }
    assertThat(stream.rows("SELECT attempts, delays, last_error FROM {queue}"))
        .containsExactly("4|3|the handler asked for more than 3 delays");
  }

  private boolean isOpen(long id) {
    return stream.number(
            "SELECT count(*) FROM {queue} WHERE status = 'dead' AND message_id = " + id)
        == 0;
  }

  private long attempts(long id) {
    return stream.number("SELECT attempts FROM {queue} WHERE message_id = " + id);
  }
}
