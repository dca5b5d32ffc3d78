package io.sqlstreams.internal.wake;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.sqlstreams.ConsumerGroup;
import io.sqlstreams.Outcome;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.ConsumeOptions;
import io.sqlstreams.config.ExceptionFilter;
import io.sqlstreams.config.Notifications;
import io.sqlstreams.config.Start;
import io.sqlstreams.internal.claim.Claimant;
import io.sqlstreams.internal.claim.Claims;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.lab.Await;
import io.sqlstreams.lab.Consumer;
import io.sqlstreams.lab.Counted;
import io.sqlstreams.lab.NamedTransaction;
import io.sqlstreams.lab.Terms;
import io.sqlstreams.lab.TestPool;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What nobody tells an idle group of, it finds all the same; and what it costs. The group would
 * look by itself no earlier than in an hour.
 */
@SqlStreamsTest
class WatcherIT {
  private static final ConsumeOptions PATIENT =
      Consumer.QUICK.withPollInterval(Duration.ofHours(1));

  TestDatabase database;
  Counted counted;
  SqlStreams client;
  SqlStreams silent;
  TestStream stream;

  @BeforeEach
  void register() {
    counted = new Counted(TestPool.shared(database));
    client =
        SqlStreams.builder(counted.dataSource()).schema(database.schema()).upkeep(false).build();
    silent =
        SqlStreams.builder(TestPool.shared(database))
            .schema(database.schema())
            .allowDestroy(true)
            .notifications(Notifications.NONE)
            .build();
    stream = TestStream.register(database);
  }

  @AfterEach
  void close() {
    client.close();
    silent.close();
  }

  private Consumer start() {
    Consumer consumer = Consumer.start(client, stream, message -> Outcome.done(), PATIENT);
    awaitIdle();
    return consumer;
  }

  /** Until the watcher has seen everything that was there. */
  private void awaitIdle() {
    counted.awaitMore("look_at_groups", 2);
  }

  private ConsumerGroup<RawPayload> silentGroup() {
    return silent.stream(stream.name()).group("g");
  }

  @Test
  void aMessageThatNobodyTellsOfIsFound() {
    try (Consumer consumer = start()) {
      for (int i = 1; i <= 3; i++) {
        stream.produceSilently(1);
        consumer.awaitReceived(i);
      }
    }
  }

  /** Steps: A inserts; the watcher looks; A commits. No id is drawn any more. */
  @Test
  void aMessageIsFoundWhoseWriterWasOpenWhenItsIdWasSeen() {
    try (Consumer consumer = start();
        NamedTransaction a = stream.begin("A")) {
      a.inserts();
      counted.awaitMore("look_at_writers", 3);
      assertThat(consumer.received()).isEmpty();
      a.commits();
      consumer.awaitReceived(1);
      awaitIdle();
      long looks = counted.calls("look_at_writers");
      awaitIdle();
      assertThat(counted.calls("look_at_writers")).as("the stream is settled").isEqualTo(looks);
    }
  }

  /** Steps: A inserts, B inserts; the watcher looks; A commits; the watcher looks; B commits. */
  @Test
  void ofTwoOpenWritersEachIsFound() {
    try (Consumer consumer = start();
        NamedTransaction a = stream.begin("A");
        NamedTransaction b = stream.begin("B")) {
      a.inserts();
      b.inserts();
      counted.awaitMore("look_at_writers", 3);
      a.commits();
      consumer.awaitReceived(1);
      counted.awaitMore("look_at_writers", 3);
      b.commits();
      consumer.awaitReceived(2);
    }
  }

  @Test
  void aRedriveByAnotherProcessIsFound() {
    AtomicBoolean works = new AtomicBoolean();
    try (Consumer consumer =
        Consumer.start(
            client,
            stream,
            message -> works.get() ? Outcome.done() : Outcome.dead("not yet"),
            PATIENT)) {
      stream.produce(1);
      stream.awaitDead(1);
      awaitIdle();
      works.set(true);
      assertThat(silentGroup().exceptions().redrive(ExceptionFilter.all(), 10)).isEqualTo(1);
      consumer.awaitReceived(2);
    }
  }

  @Test
  void aRewindByAnotherProcessIsFound() {
    try (Consumer consumer = start()) {
      stream.produce(3);
      consumer.awaitReceived(3);
      stream.awaitSettled();
      awaitIdle();
      silentGroup().rewind(Start.beginning());
      consumer.awaitReceived(6);
    }
  }

  @Test
  void aGroupThatIsDestroyedByAnotherProcessEndsItsConsumption() throws Exception {
    try (Consumer consumer = start()) {
      silentGroup().destroy();
      consumer.consumption().awaitStopped();
    }
  }

  @Test
  void aStreamThatIsDestroyedByAnotherProcessEndsItsConsumption() throws Exception {
    TestStream other = TestStream.register(database);
    try (Consumer consumer = start();
        Consumer goesOn = Consumer.start(client, other, message -> Outcome.done(), PATIENT)) {
      awaitIdle();
      silent.stream(stream.name()).destroy();
      consumer.consumption().awaitStopped();
      other.produceSilently(1);
      goesOn.awaitReceived(1);
    }
  }

  /** Steps: another session claims; this one begins, and is told of nothing; the other one dies. */
  @Test
  void whatADeadProcessHeldIsTakenOver() {
    List<Long> ids = stream.produce(2);
    claims(Duration.ofSeconds(2)).claim(10, Long.MAX_VALUE, true, false, Terms.none());
    try (Consumer consumer = start()) {
      consumer.awaitReceived(2);
      assertThat(consumer.ids()).isEqualTo(ids);
    }
  }

  /**
   * Steps: another session claims; this one begins; the other one's messages have failed, and it
   * dies.
   */
  @Test
  void whatADeadProcessHasLeftForLaterIsTaken() {
    List<Long> ids = stream.produce(1);
    claims(Duration.ofHours(1)).claim(10, Long.MAX_VALUE, true, false, Terms.none());
    try (Consumer consumer = start()) {
      assertThat(consumer.received()).isEmpty();
      stream.execute(
          "WITH ended AS (DELETE FROM {lease} RETURNING consumer_group_id)"
              + " INSERT INTO {queue} (consumer_group_id, message_id, status, concurrency, attempts, can_run_after)"
              + " SELECT consumer_group_id, "
              + ids.get(0)
              + ", 'ready', 'parallel', 1, now() + INTERVAL '2 seconds' FROM ended");
      consumer.awaitReceived(1);
    }
  }

  /** Steps: the same with a message that it was at for the second time. */
  @Test
  void anAttemptThatADeadProcessHasBegunIsEnded() {
    List<Long> ids = stream.produce(1);
    claims(Duration.ofHours(1)).claim(10, Long.MAX_VALUE, true, false, Terms.none());
    try (Consumer consumer = start()) {
      stream.execute(
          "WITH ended AS (DELETE FROM {lease} RETURNING consumer_group_id)"
              + " INSERT INTO {queue} (consumer_group_id, message_id, status, concurrency, attempts, can_run_after,"
              + " lease_token, lease_expires_at)"
              + " SELECT consumer_group_id, "
              + ids.get(0)
              + ", 'inflight', 'parallel', 1, now(), gen_random_uuid(), now() + INTERVAL '2 seconds' FROM ended");
      Await.until(
          "it waits for its next attempt, or has had it",
          () ->
              !consumer.received().isEmpty()
                  || stream.number("SELECT count(*) FROM {queue} WHERE status = 'ready'") == 1);
    }
  }

  private Claims claims(Duration lease) {
    return new Claims(
        new Database(stream.dataSource(), database.schema()),
        stream.scope(),
        "g",
        new Claimant(stream.group().id(), UUID.randomUUID(), lease));
  }

  /** Steps: one takes everything and is slow; the other is idle; the first one stops. */
  @Test
  void whatAnotherProcessGivesBackIsTaken() throws Exception {
    CountDownLatch go = new CountDownLatch(1);
    stream.produce(20);
    Consumer slow =
        Consumer.start(
            silent,
            stream,
            message -> {
              go.await();
              return Outcome.done();
            },
            Consumer.QUICK.withHandlers(1).withLease(Duration.ofMinutes(2), Duration.ofMinutes(1)));
    slow.awaitReceived(1);
    try (Consumer consumer = start()) {
      int taken = consumer.ids().size();
      slow.consumption();
      Thread stopping = new Thread(slow::close);
      stopping.start();
      go.countDown();
      stopping.join();
      consumer.awaitReceived(20 - slow.ids().size());
      assertThat(taken).isLessThan(20);
    }
  }

  /** Steps: A alters a stream's sequence and stays open; messages come to another stream. */
  @Test
  void aSequenceThatIsLockedHoldsUpNoOtherStream() {
    TestStream other = TestStream.register(database);
    try (Consumer consumer = start();
        Consumer goesOn = Consumer.start(client, other, message -> Outcome.done(), PATIENT);
        NamedTransaction a = stream.begin("A")) {
      awaitIdle();
      a.runs("ALTER SEQUENCE {log}_id_seq CACHE 1");
      other.produceSilently(1);
      goesOn.awaitReceived(1);
      a.rollsBack();
      stream.produceSilently(1);
      consumer.awaitReceived(1);
    }
  }

  @Test
  void idleGroupsCostNoStatementOfTheirOwn() {
    Map<String, Long> few = idle(2);
    Map<String, Long> many = idle(12);
    assertThat(few.keySet())
        .isSubsetOf(Set.of("look_at_sequences", "look_at_groups", "read_backend"));
    assertThat(many.keySet())
        .isSubsetOf(Set.of("look_at_sequences", "look_at_groups", "read_backend"));
    assertThat(many.get("look_at_sequences")).isBetween(5L, 7L);
  }

  /** What is run during six looks while so many groups have nothing to do. */
  private Map<String, Long> idle(int groups) {
    List<Consumer> consumers = new ArrayList<>();
    for (int i = 0; i < groups; i++) {
      consumers.add(
          Consumer.start(
              client, TestStream.register(database), message -> Outcome.done(), PATIENT));
    }
    awaitIdle();
    Map<String, Long> before = counted.calls();
    counted.awaitMore("look_at_groups", 6);
    Map<String, Long> during = new HashMap<>();
    counted
        .calls()
        .forEach(
            (name, calls) -> {
              long more = calls - before.getOrDefault(name, 0L);
              if (more > 0) {
                during.put(name, more);
              }
            });
    consumers.forEach(Consumer::close);
    return during;
  }

  @Test
  void withoutAConsumptionNothingIsAskedAndNobodyListens() {
    start().close();
    Await.until(
        "nobody listens",
        () ->
            stream.number(
                    "SELECT count(*) FROM pg_stat_activity WHERE application_name = '"
                        + database.schema()
                        + "' AND query LIKE 'LISTEN%'")
                == 0);
    Counted others = new Counted(TestPool.shared(database));
    try (SqlStreams other =
            SqlStreams.builder(others.dataSource())
                .schema(database.schema())
                .upkeep(false)
                .build();
        Consumer consumer = Consumer.start(other, stream, message -> Outcome.done(), PATIENT)) {
      // a look that was under way is over by then
      others.awaitMore("look_at_groups", 2);
      Map<String, Long> before = counted.calls();
      others.awaitMore("look_at_groups", 3);
      assertThat(consumer.received()).isEmpty();
      assertThat(counted.calls()).isEqualTo(before);
    }
  }

  /** Steps: the database ends every session of the process; a message comes; nobody tells. */
  @Test
  void afterTheDatabaseWasAwayEverythingIsLookedAt() throws Exception {
    try (Consumer consumer = start()) {
      try (Connection connection = stream.unpooled();
          Statement statement = connection.createStatement()) {
        statement.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '"
                + database.schema()
                + "' AND pid <> pg_backend_pid()");
        statement.execute(
            stream.sql("INSERT INTO {log} (schema_version, payload) VALUES (1, '{}')"));
      }
      // the other tests use the same pool
      ((HikariDataSource) TestPool.shared(database)).getHikariPoolMXBean().softEvictConnections();
      consumer.awaitReceived(1);
    }
  }
}
