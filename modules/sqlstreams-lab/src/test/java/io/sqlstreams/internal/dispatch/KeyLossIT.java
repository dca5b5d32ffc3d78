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
import java.util.concurrent.CountDownLatch;
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
      assertThat(consumer.counters().leaseLost()).isPositive();
      assertThat(consumer.ids().subList(consumer.ids().size() - 3, consumer.ids().size()))
          .containsExactly(1L, 2L, 3L);
    }
  }

  private void produce(int messages) {
    stream.execute(
        "INSERT INTO {log} (schema_version, message_key, payload)"
            + " SELECT 1, 'a', '{}' FROM generate_series(1, "
            + messages
            + ")");
  }
}
