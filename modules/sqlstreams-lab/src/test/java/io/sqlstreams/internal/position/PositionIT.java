package io.sqlstreams.internal.position;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import io.sqlstreams.ConsumerGroup;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.Start;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.error.ErrorCode;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.error.NotRetainedException;
import io.sqlstreams.internal.partition.Partitions;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.lab.NamedTransaction;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Where a group begins that is registered at some place of a stream. */
@SqlStreamsTest
class PositionIT {
  private static final Instant ZERO = Instant.parse("2026-03-01T00:00:00Z");

  TestDatabase database;
  SqlStreams client;
  TestStream stream;
  Positions positions;

  @BeforeEach
  void register() {
    client = TestStream.client(database);
    stream =
        TestStream.register(
            database, StreamConfig.defaults().withPartitionSize(100), GroupConfig.defaults());
    Database on = new Database(stream.dataSource(), database.schema());
    Scope system = Scope.system(database.schema());
    Partitions partitions = new Partitions(on, system);
    partitions.ensureThrough(stream.info(), 1_500);
    positions = new Positions(system, partitions);
  }

  @AfterEach
  void close() {
    client.close();
  }

  /** Ids with holes, a message a second, each up to 10 minutes late. */
  @Test
  void anInstantIsFoundExactlyThoughTheTimesAreNotInTheOrderOfTheIds() {
    long seed = System.nanoTime();
    stream.execute("SELECT setseed(" + (seed % 1_000) / 1_000.0 + ")");
    stream.execute(
        "INSERT INTO {log} (id, schema_version, payload, created_at)"
            + " SELECT i, 1, '{}', '2026-03-01T00:00:00Z'::timestamptz + i * INTERVAL '1 second'"
            + " + trunc(random() * 600) * INTERVAL '1 second'"
            + " FROM generate_series(1, 1500) AS i WHERE i % 7 <> 0 AND i NOT BETWEEN 700 AND 720");
    Random random = new Random(seed);
    for (int look = 0; look < 60; look++) {
      Instant instant = ZERO.plusSeconds(random.nextInt(2_200)).plusMillis(random.nextInt(2));
      long expected =
          stream.number(
              "SELECT coalesce(min(id) - 1, 1500) FROM {log} WHERE created_at >= '"
                  + instant
                  + "'");
      assertThat(find(Start.at(instant)))
          .as("seed " + seed + ", at " + instant)
          .isEqualTo(expected);
    }
    assertThat(find(Start.at(Instant.MIN))).isZero();
    assertThat(find(Start.at(Instant.MAX))).isEqualTo(1_500);
  }

  @Test
  void theEndsOfAnEmptyStreamAreZero() {
    for (Start start : List.of(Start.beginning(), Start.head(), Start.at(ZERO), Start.after(0))) {
      assertThat(find(start)).as(start.toString()).isZero();
    }
  }

  @Test
  void aGroupBeginsAtAnInstantOrAfterAnId() {
    stream.produce(5);
    stream.execute(
        "UPDATE {log} SET created_at = '2026-03-01T00:00:00Z'::timestamptz + id * INTERVAL '1 minute'");
    group("instant").register(at(Start.at(ZERO.plus(Duration.ofMinutes(3)))));
    group("id").register(at(Start.after(4)));
    group("late").register(at(Start.at(ZERO.plus(Duration.ofMinutes(9)))));
    assertThat(
            stream.rows(
                "SELECT name, start_position, claimed, committed FROM {cursor} JOIN "
                    + database.schema()
                    + ".consumer_group_config ON id = consumer_group_id WHERE name <> 'g' ORDER BY name"))
        .containsExactly(
            "id|after 4|4|4",
            "instant|at 2026-03-01T00:03:00Z|2|2",
            "late|at 2026-03-01T00:09:00Z|5|5");
    // declared again it isn't looked at any more
    assertThat(group("id").register(at(Start.after(99))).config().start())
        .isEqualTo(Start.after(4));
  }

  @Test
  void aGroupDoesNotBeginAboveTheNewestMessage() {
    stream.produce(5);
    assertThatThrownBy(() -> group("id").register(at(Start.after(6))))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContainingAll("start", "id 6", "5");
    assertThat(group("id").get()).isEmpty();
  }

  @Test
  void b28_aGroupDoesNotBeginAtMessagesThatAreDropped() {
    produceAndDropTwoPartitions();
    assertThatThrownBy(() -> group("id").register(at(Start.after(199))))
        .asInstanceOf(type(NotRetainedException.class))
        .satisfies(
            e -> {
              assertThat(e.code()).isEqualTo(ErrorCode.NOT_RETAINED);
              assertThat(e.oldestRetainedId()).isEqualTo(201);
              assertThat(e.stream()).isEqualTo(stream.name());
              assertThat(e).hasMessageContainingAll("199", "201", stream.name());
            });
    assertThatThrownBy(() -> group("instant").register(at(Start.at(ZERO.plusSeconds(200)))))
        .isInstanceOf(NotRetainedException.class)
        .hasMessageContainingAll("2026-03-01T00:03:20Z", "2026-03-01T00:03:21Z");
    assertThat(group("id").get()).isEmpty();
    group("id").register(at(Start.after(200)));
    group("instant").register(at(Start.at(ZERO.plusSeconds(201))));
    group("beginning").register(at(Start.beginning()));
    assertThat(stream.longs("SELECT claimed FROM {cursor} ORDER BY consumer_group_id"))
        .as("g, id, instant, beginning")
        .containsExactly(0L, 200L, 200L, 0L);
  }

  @Test
  void b28_whereNothingIsLeftOnlyTheEndsAreThere() {
    produceAndDropTwoPartitions();
    stream.dropPartition(2);
    assertThat(find(Start.beginning())).isEqualTo(300);
    assertThat(find(Start.head())).isEqualTo(300);
    assertThat(find(Start.after(300))).isEqualTo(300);
    assertThatThrownBy(() -> find(Start.at(ZERO.plusSeconds(250))))
        .isInstanceOf(NotRetainedException.class)
        .hasMessageContaining("all are dropped");
    for (long number : stream.longs(partitionNumbers())) {
      stream.dropPartition(number);
    }
    assertThat(find(Start.beginning())).as("not one partition is left").isEqualTo(250);
  }

  @Test
  void aPartitionThatIsBeingDetachedIsGone() throws Exception {
    stream.produce(250);
    try (NamedTransaction reader = stream.begin("reader")) {
      reader.number("SELECT count(*) FROM {log}");
      Thread detaching =
          new Thread(
              () -> stream.execute("ALTER TABLE {log} DETACH PARTITION {log}_0 CONCURRENTLY"));
      detaching.start();
      io.sqlstreams.lab.Await.until("it is marked", () -> find(Start.beginning()) == 100);
      reader.commits();
      detaching.join();
    }
    assertThat(find(Start.beginning())).isEqualTo(100);
  }

  /** Messages 1 to 250, one a second; those up to 200 are dropped. */
  private void produceAndDropTwoPartitions() {
    stream.produce(250);
    stream.execute(
        "UPDATE {log} SET created_at = '2026-03-01T00:00:00Z'::timestamptz + id * INTERVAL '1 second'");
    stream.dropPartition(0);
    stream.dropPartition(1);
  }

  private String partitionNumbers() {
    return "SELECT substring(relname FROM '[0-9]+$')::bigint FROM pg_inherits JOIN pg_class ON oid = inhrelid"
        + " WHERE inhparent = '{log}'::regclass";
  }

  private long find(Start start) {
    return new Database(stream.dataSource(), database.schema())
        .autoCommitted("find", connection -> positions.find(connection, stream.info(), start));
  }

  private ConsumerGroup<RawPayload> group(String name) {
    return client.stream(stream.name()).group(name);
  }

  private static GroupConfig at(Start start) {
    return GroupConfig.defaults().withStart(start);
  }
}
