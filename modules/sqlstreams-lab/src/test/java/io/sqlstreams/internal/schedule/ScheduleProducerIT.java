package io.sqlstreams.internal.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.sqlstreams.Outcome;
import io.sqlstreams.ScheduleHandle;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.config.Cron;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.MissedRuns;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.ScheduleConfig;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.lab.Await;
import io.sqlstreams.lab.Consumer;
import io.sqlstreams.lab.NamedTransaction;
import io.sqlstreams.lab.Relay;
import io.sqlstreams.lab.ScheduleManager;
import io.sqlstreams.lab.ScheduleProcess;
import io.sqlstreams.lab.TestPool;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.lab.Worker;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** One message for each planned time, whoever believes that it is his work, and whatever breaks. */
@SqlStreamsTest
class ScheduleProducerIT {
  private static final Cron SECONDLY = Cron.of("* * * * * *");
  private static final ScheduleConfig ALL =
      ScheduleConfig.defaults().withMissedRuns(MissedRuns.ALL);

  TestDatabase database;
  SqlStreams client;
  TestStream stream;

  @BeforeEach
  void register() {
    client = TestStream.client(database);
    stream = TestStream.register(database);
    client.schedules().forEach(schedule -> client.schedule(schedule.name()).destroy());
  }

  @AfterEach
  void close() {
    client.schedules().forEach(schedule -> client.schedule(schedule.name()).destroy());
    client.close();
  }

  private ScheduleProducer duty() {
    return ScheduleManager.duty(stream.dataSource(), database.schema(), id -> {});
  }

  private ScheduleHandle secondly(String name) {
    ScheduleHandle schedule = client.schedule(name);
    schedule.register(stream.name(), SECONDLY, "x", ALL);
    return schedule;
  }

  private void makeDue(int seconds) {
    stream.execute(
        "UPDATE {schema}.schedule_cursor SET next_scheduled_at = date_trunc('second', clock_timestamp()) - interval '%d s'"
            .formatted(seconds));
  }

  /** Every planned second from the first to the last has one message, of each schedule. */
  private void requireOneForEachSecond() {
    List<String> gaps =
        stream.rows(
            """
            SELECT options ->> 'schedule', count(*), count(DISTINCT planned),
                   extract(epoch FROM max(planned) - min(planned))::bigint + 1
            FROM (SELECT options, (options ->> 'scheduled_at')::timestamptz AS planned FROM {log}) AS run
            GROUP BY 1
            """);
    assertThat(gaps)
        .isNotEmpty()
        .allSatisfy(
            row -> {
              String[] columns = row.split("\\|");
              assertThat(columns[1]).as(row).isEqualTo(columns[2]).isEqualTo(columns[3]);
            });
    assertThat(
            stream.number(
                """
                SELECT count(*)
                FROM {schema}.schedule_cursor AS cursor
                JOIN {schema}.schedule_config AS config ON config.id = cursor.schedule_id
                WHERE cursor.last_scheduled_at <>
                  (SELECT max((options ->> 'scheduled_at')::timestamptz) FROM {log} WHERE options ->> 'schedule' = config.name)
                """))
        .isZero();
  }

  /** Thirty rounds, each with six schedules that have ten seconds due, and three that race. */
  @Test
  void threeThatRaceProduceOneForEachPlannedTime() throws Exception {
    for (int i = 0; i < 6; i++) {
      secondly("s" + i);
    }
    makeDue(10);
    ExecutorService managers = Executors.newFixedThreadPool(3);
    CyclicBarrier start = new CyclicBarrier(3);
    try {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        ScheduleProducer duty = duty();
        running.add(
            managers.submit(
                () -> {
                  for (int round = 0; round < 30; round++) {
                    start.await();
                    ScheduleManager.perform(duty);
                    if (start.await() == 0) {
                      backDate(10);
                    }
                  }
                  return null;
                }));
      }
      for (Future<?> each : running) {
        each.get();
      }
    } finally {
      managers.shutdownNow();
    }
    assertThat(stream.number("SELECT count(*) FROM {log}")).isGreaterThan(300);
    requireOneForEachSecond();
  }

  /** Makes room for more planned seconds behind those that are done. */
  private void backDate(int seconds) {
    stream.execute(
        """
        UPDATE {log} SET options = jsonb_set(options, '{scheduled_at}',
          to_jsonb(to_char((options ->> 'scheduled_at')::timestamptz AT TIME ZONE 'UTC' - interval '%1$d s', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')));
        DELETE FROM {schema}.idempotency_key_%2$d;
        UPDATE {schema}.schedule_cursor
        SET next_scheduled_at = next_scheduled_at - interval '%1$d s', last_scheduled_at = last_scheduled_at - interval '%1$d s'
        """
            .formatted(seconds, stream.info().id()));
  }

  /** Somebody writes an earlier time into the cursor by hand. */
  @Test
  void aPlannedTimeThatComesAgainIsOneMessageWhileItsKeyLives() {
    ScheduleHandle schedule = secondly("again");
    makeDue(5);
    ScheduleManager.perform(duty());
    makeDue(5);
    ScheduleManager.perform(duty());
    assertThat(schedule.get().orElseThrow().lastMessageId())
        .isEqualTo(stream.number("SELECT max(id) FROM {log}"));
    requireOneForEachSecond();
  }

  @ParameterizedTest
  @EnumSource(Relay.Cut.class)
  void aConnectionLostAtTheCommitLosesAndRepeatsNothing(Relay.Cut cut) throws Exception {
    secondly("cut");
    try (Relay relay = new Relay(database.jdbcUrl());
        HikariDataSource pool = TestPool.of(relay.dataSource(), 3)) {
      ScheduleProducer duty = ScheduleManager.duty(pool, database.schema(), id -> {});
      for (int round = 0; round < 3; round++) {
        makeDue(5);
        stream.execute("TRUNCATE {log}");
        stream.execute("DELETE FROM {schema}.idempotency_key_" + stream.info().id());
        relay.cut(cut, 1, "move_schedule_cursors");
        ScheduleManager.perform(duty);
        ScheduleManager.perform(duty());
        assertThat(relay.cuts()).isEqualTo(round + 1);
        requireOneForEachSecond();
      }
    }
  }

  /** A frozen process that holds the row, and its end. */
  @Test
  void whatAnotherHoldsIsPassedOverAndTakenOnceItLetsGo() {
    secondly("held");
    client.schedule("free").register(stream.name(), SECONDLY, "x", ALL);
    makeDue(3);
    try (NamedTransaction holder = stream.begin("holder")) {
      holder.runs(
          """
          SELECT 1 FROM {schema}.schedule_cursor AS cursor
          WHERE schedule_id = (SELECT id FROM {schema}.schedule_config WHERE name = 'held')
          FOR UPDATE
          """);
      ScheduleManager.perform(duty());
      assertThat(stream.rows("SELECT DISTINCT options ->> 'schedule' FROM {log}"))
          .containsExactly("free");
      holder.rollsBack();
    }
    ScheduleManager.perform(duty());
    assertThat(stream.rows("SELECT DISTINCT options ->> 'schedule' FROM {log} ORDER BY 1"))
        .containsExactly("free", "held");
    requireOneForEachSecond();
  }

  /**
   * Steps: a process is frozen before its commit; the server ends its transaction, so that it holds
   * up nobody; another one produces; the process goes on and finds that its work is gone.
   */
  @Test
  void aProcessThatIsFrozenBeforeItsCommitIsEndedByTheServer() throws Exception {
    secondly("frozen");
    makeDue(3);
    CountDownLatch reached = new CountDownLatch(1);
    CountDownLatch thawed = new CountDownLatch(1);
    ScheduleProducer frozen =
        ScheduleManager.duty(
            FrozenCommits.of(database.dataSource(), reached, thawed), database.schema(), id -> {});
    Thread process = new Thread(() -> ScheduleManager.perform(frozen));
    process.start();
    reached.await();
    ScheduleManager.perform(duty());
    assertThat(stream.number("SELECT count(*) FROM {log}")).as("while it holds the row").isZero();
    ScheduleProducer other = duty();
    Await.until(
        "another produces",
        () -> {
          ScheduleManager.perform(other);
          return stream.number("SELECT count(*) FROM {log}") > 0;
        });
    thawed.countDown();
    process.join();
    requireOneForEachSecond();
  }

  @Test
  void oneThatCannotProduceDoesNotStopTheOthers() {
    secondly("good");
    client.schedule("large").register(stream.name(), SECONDLY, "x".repeat(100), ALL);
    client.schedule("other").register(TestStream.register(database).name(), SECONDLY, "x", ALL);
    client.stream(stream.name()).register(StreamConfig.defaults().withMaxPayloadBytes(50));
    makeDue(3);
    ScheduleProducer duty = duty();
    Await.until(
        "the others have produced",
        () -> {
          ScheduleManager.perform(duty);
          return client.schedule("good").get().orElseThrow().lastMessageId() != null
              && client.schedule("other").get().orElseThrow().lastMessageId() != null;
        });
    assertThat(client.schedule("large").get().orElseThrow().lastMessageId()).isNull();
    client.stream(stream.name()).register(StreamConfig.defaults());
    Await.until(
        "it goes on",
        () -> {
          ScheduleManager.perform(duty);
          return client.schedule("large").get().orElseThrow().lastMessageId() != null;
        });
    requireOneForEachSecond();
  }

  /** As one that a newer version, or a newer Java, has registered. */
  @Test
  void oneThatCannotBeReadDoesNotStopTheOthers() {
    secondly("good");
    secondly("strange");
    stream.execute(
        "UPDATE {schema}.schedule_config SET time_zone = 'Mars/Base' WHERE name = 'strange'");
    makeDue(3);
    try {
      ScheduleManager.perform(duty());
      assertThat(stream.rows("SELECT DISTINCT options ->> 'schedule' FROM {log}"))
          .containsExactly("good");
    } finally {
      stream.execute("UPDATE {schema}.schedule_config SET time_zone = 'UTC'");
    }
  }

  @Test
  void aStreamThatIsDestroyedTakesItsSchedulesWithItWhileTheyProduce() {
    for (int round = 0; round < 5; round++) {
      TestStream other = TestStream.register(database);
      client.schedule("gone").register(other.name(), SECONDLY, "x", ALL);
      makeDue(20);
      try (ScheduleManager one = ScheduleManager.start(stream.dataSource(), database.schema());
          ScheduleManager two = ScheduleManager.start(stream.dataSource(), database.schema())) {
        client.stream(other.name()).destroy();
      }
      assertThat(client.schedule("gone").get()).isEmpty();
    }
    assertThat(database.deadlocks()).isEmpty();
  }

  @Test
  void consumersAreWokenOnceItIsCommitted() {
    secondly("woken");
    makeDue(1);
    List<Long> woken = new CopyOnWriteArrayList<>();
    ScheduleManager.perform(
        ScheduleManager.duty(stream.dataSource(), database.schema(), woken::add));
    assertThat(woken).isNotEmpty().containsOnly(stream.info().id());
  }

  @Test
  void theNextTurnComesWhenTheNextTimeDoes() {
    ScheduleProducer duty = duty();
    ScheduleManager.perform(duty);
    assertThat(duty.untilNext()).as("nothing is planned").isEqualTo(duty.interval());
    secondly("s");
    ScheduleManager.perform(duty);
    assertThat(duty.untilNext()).isBetween(Duration.ofNanos(1), duty.interval());
    client.schedule("s").suspend();
    ScheduleManager.perform(duty);
    assertThat(duty.untilNext()).as("nothing is planned").isEqualTo(duty.interval());
  }

  /** Small partitions, a compacted key, ordered: whatever a producer may do. */
  @Test
  void threeThatRunForTenSecondsProduceEverySecondOnce() {
    TestStream small =
        TestStream.register(
            database, StreamConfig.defaults().withPartitionSize(100), GroupConfig.defaults());
    stream = small;
    for (int i = 0; i < 20; i++) {
      client
          .schedule("s" + i)
          .register(
              small.name(),
              SECONDLY,
              "x",
              ALL.withOptions(
                  i % 2 == 0
                      ? ProduceOptions.key("k").withCompaction()
                      : ProduceOptions.key("k" + i)));
    }
    try (Consumer consumer = Consumer.start(client, small, message -> Outcome.done());
        ScheduleManager one = ScheduleManager.start(small.dataSource(), database.schema());
        ScheduleManager two = ScheduleManager.start(small.dataSource(), database.schema());
        ScheduleManager three = ScheduleManager.start(small.dataSource(), database.schema())) {
      Await.until(
          "ten seconds are produced", () -> small.number("SELECT count(*) FROM {log}") >= 200);
      assertThat(consumer.received()).isNotEmpty();
    }
    requireOneForEachSecond();
    assertThat(database.deadlocks()).isEmpty();
  }

  /** b40: the role goes from one to the other again and again, just before a second begins. */
  @Test
  void b40_aHandOverLosesNone() {
    secondly("handed");
    for (int round = 0; round < 4; round++) {
      long produced = stream.number("SELECT count(*) FROM {log}");
      ScheduleManager manager = ScheduleManager.start(stream.dataSource(), database.schema());
      Await.until(
          "the round's second is produced and the next is near",
          () ->
              stream.number("SELECT count(*) FROM {log}") > produced
                  && stream.number(
                          "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint % 1000")
                      > 900);
      manager.close();
    }
    ScheduleManager.perform(duty());
    requireOneForEachSecond();
  }

  /** Of three processes one is killed and one frozen each minute; ten minutes, or as it is told. */
  @Test
  @Tag("stress")
  void everySecondForTenMinutesAcrossThreeProcesses() {
    int minutes = Integer.getInteger("sqlstreams.schedule.minutes", 10);
    Random random = new Random(40);
    secondly("stressed");
    List<Worker> managers = new ArrayList<>();
    try {
      for (int i = 0; i < 3; i++) {
        managers.add(launch());
      }
      for (int minute = 1; minute <= minutes; minute++) {
        long before = stream.number("SELECT count(*) FROM {log}");
        int killed = random.nextInt(3);
        Worker frozen = managers.get((killed + 1) % 3);
        frozen.freeze();
        Await.until(
            "twenty seconds", () -> stream.number("SELECT count(*) FROM {log}") >= before + 20);
        managers.get(killed).kill();
        managers.set(killed, launch());
        Await.until(
            "forty seconds", () -> stream.number("SELECT count(*) FROM {log}") >= before + 40);
        frozen.thaw();
        Await.until("a minute", () -> stream.number("SELECT count(*) FROM {log}") >= before + 60);
      }
    } finally {
      managers.forEach(Worker::close);
    }
    requireOneForEachSecond();
    System.out.println(
        "late by ms, most and median: "
            + stream.rows(
                """
                SELECT round(1000 * max(late)), round(1000 * percentile_cont(0.5) WITHIN GROUP (ORDER BY late))
                FROM (SELECT extract(epoch FROM created_at - (options ->> 'scheduled_at')::timestamptz) AS late FROM {log}) AS run
                """));
  }

  private Worker launch() {
    return Worker.launch(ScheduleProcess.class, List.of(database.jdbcUrl(), database.schema()));
  }
}
