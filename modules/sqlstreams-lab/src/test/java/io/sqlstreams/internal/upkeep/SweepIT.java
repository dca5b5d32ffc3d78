package io.sqlstreams.internal.upkeep;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.Producer;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.lab.NamedTransaction;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What has served its time goes, in short transactions that wait for nobody. */
@SqlStreamsTest
class SweepIT {
  private static final StreamConfig CONFIG =
      StreamConfig.defaults()
          .withPartitionSize(100)
          .withRetention(Duration.ofHours(1))
          .withIdempotencyKeyTtl(Duration.ofMinutes(10));

  TestDatabase database;
  SqlStreams client;
  TestStream stream;
  Keeper keeper;

  @BeforeEach
  void register() {
    client = TestStream.client(database);
    stream = TestStream.register(database, CONFIG, GroupConfig.defaults());
    keeper = Keeper.of(stream);
  }

  @AfterEach
  void close() {
    client.close();
  }

  @Test
  void keysWhoseTimeIsOverGoAndTheOthersStay() {
    keys(2_500, "now() - INTERVAL '11 minutes'");
    keys(7, "now() - INTERVAL '9 minutes'");
    keeper.turn();
    assertThat(stream.number("SELECT count(*) FROM {keys}")).isEqualTo(7);
  }

  /** A key that a producer is at is left to it. */
  @Test
  void aKeyThatIsLockedIsSteppedOver() {
    keys(2, "now() - INTERVAL '11 minutes'");
    try (NamedTransaction producer = stream.begin("producer")) {
      producer.runs("SELECT FROM {keys} ORDER BY created_at LIMIT 1 FOR UPDATE");
      keeper.turn();
      assertThat(stream.number("SELECT count(*) FROM {keys}")).isEqualTo(1);
    }
    keeper.turn();
    assertThat(stream.number("SELECT count(*) FROM {keys}")).isZero();
  }

  @Test
  void tombstonesAndEmptyHeadsGo() {
    Producer<RawPayload> producer = client.stream(stream.name()).producer();
    producer.produceTombstone("gone");
    producer.produce(RawPayload.of("{}"), ProduceOptions.key("kept").withCompaction());
    stream.execute("INSERT INTO {heads} (compaction_key) VALUES ('empty')");
    keeper.turn();
    assertThat(stream.number("SELECT count(*) FROM {heads}")).isEqualTo(3);
    stream.execute("UPDATE {heads} SET updated_at = now() - INTERVAL '2 days'");
    keeper.turn();
    assertThat(stream.rows("SELECT compaction_key FROM {heads}")).containsExactly("kept");
  }

  @Test
  void whatBelongedToDroppedMessagesGoes() {
    stream.produce(150);
    stream.execute("UPDATE {cursor} SET claimed = 150, committed = 150");
    stream.execute("UPDATE {log} SET created_at = now() - INTERVAL '2 hours' WHERE id <= 100");
    for (long id : List.of(50L, 101L)) {
      stream.execute(
          "INSERT INTO {queue} (consumer_group_id, message_id, status, concurrency, attempts, can_run_after)"
              + " VALUES (%1$d, %2$d, 'dead', 'parallel', 4, now());".formatted(group(), id)
              + "INSERT INTO {deliveries} (consumer_group_id, message_id, attempt, status)"
              + " SELECT %1$d, %2$d, attempt, 'failure' FROM generate_series(1, 1200) AS attempt"
                  .formatted(group(), id));
    }
    keeper.turn();
    assertThat(stream.longs("SELECT message_id FROM {queue}")).containsExactly(101L);
    assertThat(stream.rows("SELECT message_id, count(*) FROM {deliveries} GROUP BY 1"))
        .containsExactly("101|1200");
  }

  /** A result that was recorded while its group was destroyed. */
  @Test
  void whatGoneGroupsHaveLeftGoes() {
    for (long gone : List.of(999_999L, group())) {
      stream.execute(
          "INSERT INTO {queue} (consumer_group_id, message_id, status, concurrency, attempts, can_run_after)"
              + " SELECT %1$d, id, 'dead', 'parallel', 4, now() FROM generate_series(1, 1500) AS id;"
                  .formatted(gone)
              + "INSERT INTO {deliveries} (consumer_group_id, message_id, attempt, status) VALUES (%1$d, 1, 0, 'failure');"
                  .formatted(gone)
              + "INSERT INTO {lease} (token, consumer_group_id, low, high, expires_at) VALUES (gen_random_uuid(), %1$d, 0, 1, now());"
                  .formatted(gone)
              + "INSERT INTO {operations} (consumer_group_id, operation, detail) VALUES (%1$d, 'rewind', '{}')"
                  .formatted(gone));
    }
    GroupJanitor janitor = new GroupJanitor(pool(), system(), 1);
    assertThat(janitor.perform(Keeper.posts(1))).isEmpty();
    for (String table : List.of("{queue}", "{deliveries}", "{lease}", "{operations}")) {
      assertThat(stream.longs("SELECT DISTINCT consumer_group_id FROM " + table))
          .as(table)
          .containsExactly(group());
    }
  }

  /** A group that claims nothing comes further all the same, up to what holds it. */
  @Test
  void committedMovesWithoutAClaim() {
    TestStream other = TestStream.register(database);
    stream.produce(50);
    stream.execute("UPDATE {cursor} SET claimed = 50");
    other.produce(20);
    other.execute("UPDATE {cursor} SET claimed = 20");
    other.execute(
        "INSERT INTO {queue} (consumer_group_id, message_id, status, concurrency, attempts, can_run_after)"
            + " VALUES (%d, 8, 'ready', 'parallel', 1, now())".formatted(other.group().id()));
    CursorAdvancer advancer = new CursorAdvancer(pool(), system());
    assertThat(advancer.perform(Keeper.posts(1))).isEmpty();
    assertThat(stream.number("SELECT committed FROM {cursor}")).isEqualTo(50);
    assertThat(other.number("SELECT committed FROM {cursor}")).isEqualTo(7);
  }

  @Test
  void theTablesThatChurnAreVacuumed() {
    assertThat(new StreamVacuum(pool(), system()).perform(Keeper.posts(stream.info().id())))
        .isEmpty();
  }

  /**
   * Case B20: four processes do all of it at once, beside producers, and none is in another's way.
   */
  @Test
  void b20_fourAtOnceNeitherDeadlockNorFail() throws Exception {
    long deadlocks = deadlocks();
    ExecutorService threads = Executors.newFixedThreadPool(6);
    AtomicInteger running = new AtomicInteger(2);
    List<Future<?>> all = new ArrayList<>();
    try {
      for (int p = 0; p < 2; p++) {
        int producer = p;
        all.add(
            threads.submit(
                () -> {
                  for (int i = 0; i < 60; i++) {
                    keys(30, "now() - INTERVAL '11 minutes'");
                    client.stream(stream.name())
                        .producer()
                        .produce(
                            RawPayload.of("{}"),
                            ProduceOptions.key("k" + i % 5)
                                .withCompaction()
                                .withIdempotencyKey(producer + "-" + i));
                    stream.execute(
                        "UPDATE {heads} SET updated_at = now() - INTERVAL '2 days', tombstone = true WHERE compaction_key = 'k"
                            + (i + producer) % 5
                            + "'");
                  }
                  running.decrementAndGet();
                  return null;
                }));
      }
      for (int j = 0; j < 4; j++) {
        Keeper own = Keeper.of(stream);
        GroupJanitor groups = new GroupJanitor(pool(), system(), 1);
        CursorAdvancer advancer = new CursorAdvancer(pool(), system());
        all.add(
            threads.submit(
                () -> {
                  do {
                    own.turn();
                    assertThat(groups.perform(Keeper.posts(1))).isEmpty();
                    assertThat(advancer.perform(Keeper.posts(1))).isEmpty();
                  } while (running.get() > 0);
                  return null;
                }));
      }
      for (Future<?> one : all) {
        one.get();
      }
    } finally {
      threads.shutdownNow();
    }
    keeper.turn();
    assertThat(
            stream.number(
                "SELECT count(*) FROM {keys} WHERE created_at < now() - INTERVAL '10 minutes'"))
        .isZero();
    assertThat(deadlocks()).isEqualTo(deadlocks);
  }

  private long deadlocks() {
    return stream.number(
        "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()");
  }

  private void keys(int count, String createdAt) {
    stream.execute(
        "INSERT INTO {keys} (idempotency_key, message_id, created_at) SELECT gen_random_uuid(), 1, "
            + createdAt
            + " FROM generate_series(1, "
            + count
            + ")");
  }

  private long group() {
    return stream.group().id();
  }

  private Database pool() {
    return new Database(stream.dataSource(), database.schema());
  }

  private Scope system() {
    return Scope.system(database.schema());
  }
}
