package io.sqlstreams.internal.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.Outcome;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.config.Concurrency;
import io.sqlstreams.config.ConsumeOptions;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.Start;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.lab.Await;
import io.sqlstreams.lab.Consumer;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.time.Duration;
import java.util.Collections;
import java.util.concurrent.CountDownLatch;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A session that keeps the order within keys loses ranges. */
@SqlStreamsTest
class KeyLossIT {
  /** Longer than any test waits. */
  private static final ConsumeOptions LONG_LEASE =
      Consumer.QUICK.withHandlers(2).withLease(Duration.ofMinutes(10), Duration.ofSeconds(100));

  TestDatabase database;
  SqlStreams client;
  TestStream stream;

  @BeforeEach
  void register() {
    client = TestStream.client(database);
    stream =
        TestStream.register(
            database,
            StreamConfig.defaults(),
            GroupConfig.defaults().withConcurrency(Concurrency.ORDERED));
  }

  @AfterEach
  void close() {
    client.close();
  }

  /** Running; rewound; claimed again, behind what runs; that ends, and was lost. */
  @Test
  void whatComesAgainAfterARewindDoesNotWaitForTheEndOfALease() throws Exception {
    produce(3);
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    try (Consumer consumer =
        Consumer.start(
            client,
            stream,
            message -> {
              begun.countDown();
              go.await();
              return Outcome.done();
            },
            LONG_LEASE)) {
      begun.await();
      client.stream(stream.name()).group("g").rewind(Start.beginning());
      Await.until(
          "it is claimed again",
          () -> stream.number("SELECT count(*) FROM {lease} WHERE high = 3") == 1);
      Await.until("it is here", () -> consumer.counters().claimed() == 6);
      go.countDown();
      Await.until(
          "all is done",
          () -> stream.number("SELECT count(*) FROM {lease}") == 0 && stream.isSettled());
      consumer.close();
      assertThat(consumer.counters().leaseLost()).isPositive();
      assertThat(consumer.ids().subList(consumer.ids().size() - 3, consumer.ids().size()))
          .containsExactly(1L, 2L, 3L);
    }
  }

  /** 1 fails; 3, behind it, is put aside; 4, in the range of 3, runs; 1 is due. */
  @Test
  void aRetryDoesNotWaitForTheRangesOfThoseBehindIt() throws Exception {
    produce("a", "x", "a", "slow");
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch again = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    try (Consumer consumer =
        Consumer.start(
            client,
            stream,
            message -> {
              if (message.id() == 4) {
                begun.countDown();
                go.await();
              } else if (message.id() == 1 && message.attempt() == 0) {
                begun.await();
                return Outcome.delay(Duration.ofMillis(500));
              } else if (message.id() == 1) {
                again.countDown();
              }
              return Outcome.done();
            },
            LONG_LEASE.withMaxClaim(2))) {
      again.await();
      go.countDown();
      stream.awaitSettled();
      assertThat(consumer.ids().stream().filter(id -> id == 1 || id == 3))
          .containsExactly(1L, 1L, 3L);
    }
  }

  @Test
  void aGracefulStopGivesBackWhatWasNotBegunAndItGoesOnInOrder() throws Exception {
    produce(50);
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    Consumer first =
        Consumer.start(
            client,
            stream,
            message -> {
              begun.countDown();
              go.await();
              return Outcome.done();
            },
            LONG_LEASE);
    begun.await();
    Thread stopping = new Thread(first::close);
    stopping.start();
    go.countDown();
    stopping.join();
    assertThat(stream.number("SELECT count(*) FROM {queue}")).isZero();
    try (Consumer second = Consumer.start(client, stream, message -> Outcome.done(), LONG_LEASE)) {
      stream.awaitSettled();
      assertThat(second.ids())
          .isEqualTo(LongStream.rangeClosed(first.ids().size() + 1, 50).boxed().toList());
    }
  }

  private void produce(int messages) {
    produce(Collections.nCopies(messages, "a").toArray(String[]::new));
  }

  private void produce(String... keys) {
    stream.execute(
        "INSERT INTO {log} (schema_version, message_key, payload)"
            + " SELECT 1, keys.key, '{}' FROM unnest('{"
            + String.join(",", keys)
            + "}'::TEXT[]) AS keys (key)");
  }
}
