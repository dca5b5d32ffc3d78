package io.sqlstreams.internal.order;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.BatchOutcome;
import io.sqlstreams.Consumption;
import io.sqlstreams.Message;
import io.sqlstreams.Outcome;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.Concurrency;
import io.sqlstreams.config.ExceptionFilter;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.RetryPolicy;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.lab.Await;
import io.sqlstreams.lab.Consumer;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.PostgresExtension;
import io.sqlstreams.test.TestDatabase;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The messages of a key as handlers see them. */
@ExtendWith(PostgresExtension.class)
class KeyDeliveryIT {
  private static final GroupConfig ORDERED =
      GroupConfig.defaults()
          .withConcurrency(Concurrency.ORDERED)
          .withRetry(RetryPolicy.defaults().withInitialBackoff(Duration.ofMillis(20)));

  TestDatabase database;
  TestStream stream;
  SqlStreams client;

  private void register(GroupConfig config) {
    stream = TestStream.register(database, StreamConfig.defaults(), config);
    client = TestStream.client(database);
  }

  @AfterEach
  void close() {
    client.close();
  }

  @Test
  void b65_theFirstOfAKeyFailsTwiceAndTheOthersOfTheKeyWaitForIt() {
    register(ORDERED.withRetry(RetryPolicy.defaults().withInitialBackoff(Duration.ofSeconds(1))));
    produce("K", "L", "M", "K", "L", "K", "M", "K", "K");
    CopyOnWriteArrayList<String> seen = new CopyOnWriteArrayList<>();
    try (Consumer consumer =
        Consumer.start(
            client,
            stream,
            message -> {
              seen.add(message.key() + message.id());
              if (message.id() == 1 && message.attempt() < 2) {
                throw new IllegalStateException("not yet");
              }
              return Outcome.done();
            })) {
      stream.awaitSettled();
      assertThat(seen.stream().filter(name -> name.startsWith("K")))
          .containsExactly("K1", "K1", "K1", "K4", "K6", "K8", "K9");
      assertThat(seen.subList(0, 5)).as("L and M don't wait").contains("L2", "M3", "L5", "M7");
      assertThat(consumer.consumption().counters().deferred()).isPositive();
    }
  }

  @Test
  void b65_aDeadMessageIsPassedAndAWaitingOneCanBeDiscarded() {
    register(ORDERED.withRetry(RetryPolicy.defaults().withInitialBackoff(Duration.ofMinutes(5))));
    produce("K", "K", "K", "K");
    try (Consumer consumer =
        Consumer.start(
            client,
            stream,
            message -> {
              if (message.id() == 3) {
                throw new IllegalStateException("for five minutes");
              }
              return message.id() == 1 ? Outcome.dead("no") : Outcome.done();
            })) {
      Await.until(
          "3 waits",
          () -> stream.rows("SELECT status FROM {queue} WHERE message_id = 3").contains("ready"));
      Await.until(
          "4 waits for it",
          () ->
              stream.rows("SELECT status FROM {queue} WHERE message_id = 4").contains("deferred"));
      assertThat(consumer.ids()).containsExactly(1L, 2L, 3L);
      long discarded =
          client.stream(stream.name())
              .group("g")
              .exceptions()
              .discard(ExceptionFilter.all().withMessageIds(3, 3), 1);
      assertThat(discarded).isEqualTo(1);
      stream.awaitSettled();
      assertThat(consumer.ids()).containsExactly(1L, 2L, 3L, 4L);
    }
  }

  @Test
  void aMessageThatAsksForItWaitsInAGroupWithoutOrder() {
    register(GroupConfig.defaults().withRetry(ORDERED.retry()));
    CountDownLatch release = new CountDownLatch(1);
    produce("K");
    client.stream(stream.name())
        .producer()
        .produce(RawPayload.of("{}"), ProduceOptions.key("K").withConcurrency(Concurrency.ORDERED));
    produce("K");
    try (Consumer consumer =
        Consumer.start(
            client,
            stream,
            message -> {
              if (message.id() == 1) {
                release.await();
              }
              return Outcome.done();
            })) {
      Await.until("3 doesn't wait", () -> consumer.ids().contains(3L));
      assertThat(consumer.ids()).doesNotContain(2L);
      release.countDown();
      stream.awaitSettled();
      assertThat(consumer.ids()).containsExactly(1L, 3L, 2L);
    }
  }

  @Test
  void aListHoldsNoTwoMessagesOfAKey() {
    register(ORDERED);
    produce("a", "a", "b", "a", "c", "b");
    CopyOnWriteArrayList<List<String>> lists = new CopyOnWriteArrayList<>();
    Consumption running =
        client.stream(stream.name())
            .group("g")
            .consumeBatches(
                messages -> {
                  lists.add(messages.stream().map(Message::key).toList());
                  return BatchOutcome.all(Outcome.done());
                },
                Consumer.QUICK);
    stream.awaitSettled();
    // what is recorded is counted after it
    running.stop();
    assertThat(running.counters().done()).isEqualTo(6);
    assertThat(lists).allSatisfy(keys -> assertThat(new HashSet<>(keys)).hasSameSizeAs(keys));
  }

  /** One of a key runs, the next waits behind it, others are done; stop; start again. */
  @Test
  void whatIsNotBegunAtAStopComesOnceAndInOrderAndNothingElseWithIt() throws Exception {
    register(ORDERED);
    produce("a", "a", "b", "a", "b", "c");
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    Consumer first =
        Consumer.start(
            client,
            stream,
            message -> {
              if (message.id() == 1) {
                begun.countDown();
                release.await();
              }
              return Outcome.done();
            });
    begun.await();
    first.awaitReceived(4);
    Thread stop = new Thread(first::close);
    stop.start();
    Await.until("it stops", () -> stop.getState() == Thread.State.WAITING);
    release.countDown();
    stop.join();
    assertThat(first.ids()).containsExactlyInAnyOrder(1L, 3L, 5L, 6L);
    assertThat(stream.number("SELECT count(*) FROM {lease} WHERE session IS NOT NULL"))
        .as("what is left is nobody's")
        .isZero();
    try (Consumer second = Consumer.start(client, stream, message -> Outcome.done())) {
      stream.awaitSettled();
      assertThat(second.ids()).containsExactly(2L, 4L);
    }
  }

  private void produce(String... keys) {
    for (String key : keys) {
      client.stream(stream.name()).producer().produce(RawPayload.of("{}"), ProduceOptions.key(key));
    }
  }
}
