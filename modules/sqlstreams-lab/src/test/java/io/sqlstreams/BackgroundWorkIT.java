package io.sqlstreams;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.Cron;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.ScheduleConfig;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.lab.Await;
import io.sqlstreams.lab.TestPool;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a client does by itself while it consumes, or while its manager runs, with nothing set. */
@SqlStreamsTest
class BackgroundWorkIT {
  TestDatabase database;
  SqlStreams client;
  TestStream stream;

  @BeforeEach
  void register() {
    client =
        SqlStreams.builder(TestPool.shared(database))
            .schema(database.schema())
            .allowDestroy(true)
            .build();
    stream =
        TestStream.register(
            database,
            StreamConfig.defaults().withPartitionSize(100).withRetention(Duration.ofDays(1)),
            GroupConfig.defaults());
  }

  @AfterEach
  void close() {
    client.close();
  }

  @Test
  void aConsumingClientKeepsItsStreamsUp() {
    // two partitions are there from the start
    List<Long> ids = stream.produce(190);
    stream.execute("UPDATE {log} SET created_at = created_at - interval '2 days' WHERE id <= 100");
    try (Consumption running = handle().consume(message -> Outcome.done())) {
      Await.until(
          "the old partition goes and the next one is there",
          () -> {
            StreamUpkeep upkeep = client.stream(stream.name()).upkeep();
            return upkeep.floor() == 100
                && upkeep.partitions().get(0).firstId() == 101
                && upkeep.partitions().get(upkeep.partitions().size() - 1).lastId() >= 300;
          });
      assertThat(client.workers())
          .filteredOn(worker -> worker.name().equals("schedule_producer"))
          .allSatisfy(worker -> assertThat(worker.instances()).hasSize(1));
    }
    assertThat(stream.longs("SELECT id FROM {log} ORDER BY id")).isEqualTo(ids.subList(100, 190));
  }

  @Test
  void aManagerRunsTheSchedulesWhereNobodyConsumes() throws InterruptedException {
    List<Message<RawPayload>> received = new CopyOnWriteArrayList<>();
    try (SqlStreams consumer =
            SqlStreams.builder(TestPool.shared(database))
                .schema(database.schema())
                .upkeep(false)
                .build();
        Consumption running =
            consumer.stream(stream.name())
                .group("g")
                .consume(
                    message -> {
                      received.add(message);
                      return Outcome.done();
                    })) {
      client
          .schedule("every." + stream.name())
          .register(
              stream.name(),
              Cron.of("* * * * * *", ZoneOffset.UTC),
              RawPayload.of("{\"run\":true}"),
              ScheduleConfig.defaults());
      try (Upkeep upkeep = client.manager().run()) {
        Await.until("two runs have come", () -> received.size() >= 2);
      }
      List<Instant> planned = received.stream().map(Message::scheduledAt).toList();
      assertThat(planned).doesNotContainNull().isSorted().doesNotHaveDuplicates();
    } finally {
      client.schedule("every." + stream.name()).destroy();
    }
  }

  private ConsumerGroup<RawPayload> handle() {
    return client.stream(stream.name()).group("g");
  }
}
