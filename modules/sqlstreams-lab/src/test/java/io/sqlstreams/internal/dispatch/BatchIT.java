package io.sqlstreams.internal.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.BatchHandler;
import io.sqlstreams.BatchOutcome;
import io.sqlstreams.Consumption;
import io.sqlstreams.Message;
import io.sqlstreams.Outcome;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.ConsumeOptions;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.RetryPolicy;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.lab.Await;
import io.sqlstreams.lab.Consumer;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Handlers that are given a list. */
@SqlStreamsTest
class BatchIT {
  static final ConsumeOptions ONE_HANDLER = Consumer.QUICK.withHandlers(1);

  TestDatabase database;
  SqlStreams client;
  TestStream stream;
  final List<List<Long>> batches = new CopyOnWriteArrayList<>();

  @BeforeEach
  void register() {
    client = TestStream.client(database);
    stream = TestStream.register(database, StreamConfig.defaults(), quickRetry(2));
  }

  private static GroupConfig quickRetry(int maxRetries) {
    return GroupConfig.defaults()
        .withRetry(
            RetryPolicy.defaults()
                .withMaxRetries(maxRetries)
                .withInitialBackoff(Duration.ofMillis(20))
                .withBackoff(Duration.ofMillis(20), 1));
  }

  @AfterEach
  void close() {
    client.close();
  }

  @Test
  void everyMessageComesInOrderInListsOfTheGivenSizeAtMost() {
    List<Long> ids = stream.produce(2_000);
    try (Consumption running =
        consume(messages -> BatchOutcome.done(), ONE_HANDLER.withMaxBatch(30))) {
      stream.awaitSettled();
    }
    assertThat(batches).allSatisfy(batch -> assertThat(batch).hasSizeBetween(1, 30).isSorted());
    assertThat(batches).as("they are filled").anySatisfy(batch -> assertThat(batch).hasSize(30));
    assertThat(batches.stream().flatMap(List::stream)).containsExactlyElementsOf(ids);
  }

  /** Results are sent as arrays, so no number of parameters limits them. */
  @Test
  void b48_theResultsOfSeventyThousandMessagesAreRecordedThoughSomeFail() {
    stream = TestStream.register(database, StreamConfig.defaults(), quickRetry(0));
    stream.produce(70_000);
    ConsumeOptions large =
        ONE_HANDLER
            .withMaxClaim(ConsumeOptions.MAX_CLAIM)
            .withPrefetch(3 * ConsumeOptions.MAX_CLAIM, ConsumeOptions.DEFAULT_PREFETCH_BYTES)
            .withMaxBatch(ConsumeOptions.MAX_CLAIM);
    try (Consumption running =
        consume(
            messages ->
                BatchOutcome.each(
                    messages.stream()
                        .map(
                            message ->
                                message.id() % 10 == 0 ? Outcome.dead("tenth") : Outcome.done())
                        .toList()),
            large)) {
      stream.awaitDead(7_000);
      stream.awaitSettled();
      running.stop();
      assertThat(running.counters().done()).isEqualTo(63_000);
      assertThat(running.counters().dead()).isEqualTo(7_000);
    }
    assertThat(batches.stream().mapToInt(List::size).sum()).isEqualTo(70_000);
    assertThat(stream.number("SELECT count(*) FROM {queue} WHERE message_id % 10 = 0"))
        .isEqualTo(7_000);
  }

  @Test
  void eachMessageHasItsOwnOutcomeAndIsTriedAgainAlone() {
    List<Long> ids = stream.produce(40);
    long failing = ids.get(3);
    long delayed = ids.get(17);
    long dead = ids.get(39);
    try (Consumption running =
        consume(
            messages -> {
              List<Outcome> outcomes = new ArrayList<>();
              for (Message<RawPayload> message : messages) {
                if (message.id() == dead) {
                  outcomes.add(Outcome.dead("not ours"));
                } else if (message.id() == delayed && message.attempt() == 0) {
                  outcomes.add(Outcome.delay(Duration.ofMillis(5)));
                } else if (message.id() == failing && message.attempt() < 2) {
                  outcomes.add(
                      message.attempt() == 0
                          ? null
                          : Outcome.failed(new IllegalStateException("not yet")));
                } else {
                  outcomes.add(Outcome.done());
                }
              }
              return BatchOutcome.each(outcomes);
            },
            ONE_HANDLER)) {
      stream.awaitSettled();
      running.stop();
      assertThat(running.counters().done()).isEqualTo(39);
      assertThat(running.counters().retried()).isEqualTo(2);
      assertThat(running.counters().delayed()).isEqualTo(1);
      assertThat(running.counters().dead()).isEqualTo(1);
    }
    assertThat(batches.stream().filter(batch -> batch.contains(failing)).skip(1))
        .containsExactly(List.of(failing), List.of(failing));
    assertThat(
            stream.rows("SELECT message_id, attempt, status, error FROM {deliveries} ORDER BY id"))
        .containsExactlyInAnyOrder(
            failing + "|0|failure|the handler returned null instead of an outcome",
            failing + "|1|failure|java.lang.IllegalStateException: not yet",
            delayed + "|0|delayed|null",
            dead + "|0|killed|not ours");
  }

  @Test
  void whatIsThrownOrNullOrOfAnotherLengthIsAFailureOfAll() {
    stream = TestStream.register(database, StreamConfig.defaults(), quickRetry(0));
    List<Long> ids = stream.produce(3);
    AtomicInteger call = new AtomicInteger();
    try (Consumption running =
        consume(
            messages ->
                switch (call.getAndIncrement()) {
                  case 0 -> throw new LinkageError("no");
                  case 1 -> null;
                  default -> BatchOutcome.each(List.of(Outcome.done(), Outcome.done()));
                },
            ONE_HANDLER.withMaxBatch(1))) {
      stream.awaitSettled();
    }
    assertThat(stream.rows("SELECT message_id, last_error FROM {queue} ORDER BY 1"))
        .containsExactly(
            ids.get(0) + "|java.lang.LinkageError: no",
            ids.get(1) + "|the handler returned null instead of an outcome",
            ids.get(2)
                + "|the handler returned 2 outcomes for 1 messages: return one for each, or one for all");
  }

  @Test
  void whatCanNotBeReadIsLeftOutAndTheOthersGoOn() {
    record Order(int amount) {}
    stream = TestStream.register(database, StreamConfig.defaults(), quickRetry(0));
    var raw = client.stream(stream.name()).producer();
    raw.produce(RawPayload.of("{\"amount\":1}"));
    long wrong = raw.produce(RawPayload.of("{\"amount\":\"many\"}")).id();
    raw.produce(RawPayload.of("{\"amount\":2}"));
    List<Integer> amounts = new CopyOnWriteArrayList<>();
    try (Consumption running =
        client.stream(stream.name(), Order.class)
            .group("g")
            .consumeBatches(
                messages -> {
                  messages.forEach(message -> amounts.add(message.payload().amount()));
                  return BatchOutcome.done();
                },
                ONE_HANDLER)) {
      stream.awaitSettled();
      running.stop();
      assertThat(running.counters().undecodable()).isEqualTo(1);
    }
    assertThat(amounts).containsExactly(1, 2);
    assertThat(stream.longs("SELECT message_id FROM {queue}")).containsExactly(wrong);
  }

  @Test
  void theLongestTimeoutOfTheListHoldsForTheList() {
    stream =
        TestStream.register(
            database, StreamConfig.defaults(), quickRetry(0).withTimeout(Duration.ofMillis(100)));
    var producer = client.stream(stream.name()).producer();
    producer.produceAll(
        List.of(
            io.sqlstreams.Outgoing.of(RawPayload.of("1")),
            io.sqlstreams.Outgoing.of(
                RawPayload.of("2"),
                ProduceOptions.defaults().withTimeout(Duration.ofMillis(900)))));
    List<Long> millis = new CopyOnWriteArrayList<>();
    // one claim takes both: the group is caught up when they come together
    try (Consumption running =
        consume(
            messages -> {
              long begun = System.nanoTime();
              try {
                TimeUnit.SECONDS.sleep(30);
              } finally {
                millis.add(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun));
              }
              return BatchOutcome.done();
            },
            ONE_HANDLER.withHandlers(2))) {
      stream.awaitSettled();
      running.stop();
      assertThat(running.counters().timedOut()).isEqualTo(2);
    }
    assertThat(batches).containsExactly(List.of(1L, 2L));
    assertThat(millis.get(0)).isBetween(900L, 10_000L);
    assertThat(stream.rows("SELECT DISTINCT status FROM {queue}")).containsExactly("dead");
  }

  @Test
  void anAbandonedListIsRecordedForEachOfItsMessages() {
    stream =
        TestStream.register(
            database, StreamConfig.defaults(), quickRetry(0).withTimeout(Duration.ofMillis(100)));
    stream.produce(3);
    AtomicInteger released = new AtomicInteger();
    Consumption running =
        consume(
            messages -> {
              while (released.get() == 0) {
                Thread.onSpinWait();
              }
              return BatchOutcome.done();
            },
            ONE_HANDLER);
    stream.awaitSettled();
    assertThat(running.counters().abandoned()).isPositive();
    released.set(1);
    Await.until("the threads are back", () -> running.counters().abandoned() == 0);
    running.stop();
    assertThat(running.counters().dead()).isEqualTo(3);
    assertThat(running.counters().done()).as("what comes late doesn't count").isZero();
  }

  private Consumption consume(BatchHandler<RawPayload> handler, ConsumeOptions options) {
    return client.stream(stream.name())
        .group("g")
        .consumeBatches(
            messages -> {
              batches.add(messages.stream().map(Message::id).toList());
              return handler.handle(messages);
            },
            options);
  }
}
