package io.sqlstreams.internal.inspect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sqlstreams.ConsumerGroup;
import io.sqlstreams.ExceptionCounts;
import io.sqlstreams.FenceBlocker;
import io.sqlstreams.GroupLag;
import io.sqlstreams.GroupSnapshot;
import io.sqlstreams.OldestMessage;
import io.sqlstreams.Outcome;
import io.sqlstreams.Producer;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.RetryPolicy;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.error.GroupNotFoundException;
import io.sqlstreams.error.StreamNotFoundException;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.lab.Await;
import io.sqlstreams.lab.Consumer;
import io.sqlstreams.lab.NamedTransaction;
import io.sqlstreams.lab.StepReader;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.lab.Writers;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a snapshot says of a group, against what the group is given. */
@SqlStreamsTest
class SnapshotIT {
  private static final GroupLag NONE = new GroupLag(0, 0, 0, true);

  TestDatabase database;
  SqlStreams client;
  TestStream stream;

  @BeforeEach
  void register() {
    client = TestStream.client(database);
    stream = TestStream.register(database);
  }

  @AfterEach
  void close() {
    client.close();
  }

  @Test
  void aNewGroupOfAnEmptyStreamHasNothing() {
    GroupSnapshot snapshot = snapshot();
    assertThat(snapshot)
        .isEqualTo(
            new GroupSnapshot(
                snapshot.takenAt(),
                0,
                0,
                0,
                NONE,
                0,
                new ExceptionCounts(0, 0, 0, 0, 0, 0, 0),
                null,
                null,
                null,
                List.of()));
    assertThat(snapshot.overdue()).isZero();
  }

  @Test
  void everyMessageIsCountedOnceWhereverItIs() {
    stream.produce(10);
    stream.execute("UPDATE {cursor} SET claimed = 10");
    queue(1, "ready", 1, 0, 0, "-20 seconds");
    queue(2, "ready", 1, 0, 0, "1 hour");
    queue(3, "ready", 1, 0, 1, "1 hour");
    queue(4, "inflight", 1, 0, 0, "-1 hour");
    queue(5, "deferred", 0, 0, 0, "1 hour");
    queue(6, "dead", 4, 0, 0, "-1 hour");
    queue(7, "superseded", 1, 0, 0, "-1 hour");
    queue(8, "ready", 2, 0, 1, "1 hour");
    queue(9, "ready", 3, 3, 0, "1 hour");
    stream.produce(4);
    assertThat(new StepReader(stream).poll()).containsExactly(11L, 12L, 13L, 14L);
    stream.produce(3);

    GroupSnapshot snapshot = snapshot();
    assertThat(snapshot.head()).isEqualTo(17);
    assertThat(snapshot.claimed()).isEqualTo(14);
    assertThat(snapshot.committed()).isZero();
    assertThat(snapshot.lag()).isEqualTo(new GroupLag(3, 4, 7, true));
    assertThat(snapshot.lag().messages()).isEqualTo(14);
    assertThat(snapshot.openRanges()).isEqualTo(1);
    assertThat(snapshot.exceptions()).isEqualTo(new ExceptionCounts(1, 2, 2, 1, 1, 1, 1));
    assertThat(snapshot.exceptions().unresolved()).isEqualTo(7);
    assertThat(snapshot.oldestUnclaimed()).extracting(OldestMessage::id).isEqualTo(15L);
    assertThat(snapshot.oldestUnresolved()).extracting(OldestMessage::id).isEqualTo(1L);
    assertThat(snapshot.oldestDue()).extracting(OldestMessage::id).isEqualTo(1L);
    assertThat(snapshot.overdue()).isBetween(Duration.ofSeconds(20), Duration.ofMinutes(2));
    assertThat(snapshot.blockers()).isEmpty();
  }

  @Test
  void aRewoundGroupsMessagesCountAsUnclaimedWhateverRowsThereAre() {
    stream.produce(5);
    new StepReader(stream).poll();
    queue(2, "ready", 1, 0, 0, "-1 hour");
    queue(4, "ready", 1, 0, 0, "-1 hour");
    queue(5, "dead", 1, 0, 0, "-1 hour");
    assertThat(snapshot().lag().open()).isEqualTo(5);
    stream.execute("UPDATE {cursor} SET claimed = 3, committed = 0, rewinds = rewinds + 1");
    assertThat(snapshot().lag()).isEqualTo(new GroupLag(2, 3, 1, true));
  }

  @Test
  void b71_whatIsDelayedOrWaitsForItsRetryIsNotDue() {
    stream =
        TestStream.register(
            database,
            StreamConfig.defaults(),
            GroupConfig.defaults()
                .withRetry(
                    RetryPolicy.defaults()
                        .withCap(Duration.ofHours(2))
                        .withInitialBackoff(Duration.ofHours(1))));
    List<Long> ids = stream.produce(20);
    try (Consumer consumer =
        Consumer.start(
            client,
            stream,
            message -> {
              if (message.id() == ids.get(3)) {
                return Outcome.delay(Duration.ofHours(10));
              }
              if (message.id() == ids.get(7)) {
                throw new IllegalStateException("no");
              }
              return Outcome.done();
            })) {
      consumer.awaitReceived(20);
      Await.until("the results are recorded", () -> snapshot().exceptions().unresolved() == 2);
      Await.until("the rest is drained", () -> snapshot().openRanges() == 0);
    }
    GroupSnapshot waiting = snapshot();
    assertThat(waiting.exceptions()).isEqualTo(new ExceptionCounts(0, 1, 1, 0, 0, 0, 0));
    assertThat(waiting.lag()).isEqualTo(new GroupLag(0, 0, 2, true));
    assertThat(waiting.oldestUnresolved()).extracting(OldestMessage::id).isEqualTo(ids.get(3));
    assertThat(waiting.oldestDue()).isNull();
    assertThat(waiting.overdue()).isZero();

    // their times come, and nobody is there
    stream.execute(
        "UPDATE {queue} SET can_run_after = now() - message_id * INTERVAL '1 minute', suspect = message_id = "
            + ids.get(7));
    GroupSnapshot due = snapshot();
    assertThat(due.exceptions()).isEqualTo(new ExceptionCounts(2, 0, 0, 0, 0, 0, 0));
    assertThat(due.oldestDue()).extracting(OldestMessage::id).isEqualTo(ids.get(7));
    assertThat(due.overdue())
        .isBetween(Duration.ofMinutes(ids.get(7)), Duration.ofMinutes(ids.get(7) + 2));
  }

  @Test
  void anUnclaimedMessageIsOverdueWhenNobodyConsumes() {
    stream.produce(1);
    stream.execute("UPDATE {log} SET created_at = now() - INTERVAL '5 minutes'");
    assertThat(snapshot().overdue()).isBetween(Duration.ofMinutes(5), Duration.ofMinutes(7));
  }

  @Test
  void b29_lagIsWhatIsDeliveredAfterDroppedPartitionsRollbacksAndGaps() throws Exception {
    registerInPartitions(1_000, 4);
    stream.produce(900);
    new Writers(stream, 4, 1_400, 0.3).run();
    assertThat(snapshot().lag().messages()).isEqualTo(stream.number("SELECT count(*) FROM {log}"));
    // the first messages are claimed by a process that is gone, and some have failed
    assertThat(new StepReader(stream).poll()).hasSize(500);
    queue(3, "ready", 1, 0, 0, "-1 hour");
    stream.execute("UPDATE {lease} SET low = 10");
    assertThat(snapshot().lag().open()).isEqualTo(490);
    stream.execute("UPDATE {lease} SET expires_at = now()");
    stream.execute("DROP TABLE {log}_0");
    GroupSnapshot before = snapshot();
    long deliverable = stream.number("SELECT count(*) FROM {log}");
    assertThat(before.lag()).isEqualTo(new GroupLag(deliverable, 0, 0, true));
    assertThat(before.head() - before.claimed()).as("distance").isGreaterThan(deliverable);
    try (Consumer consumer = Consumer.start(client, stream, message -> Outcome.done())) {
      Await.until("all is done", () -> snapshot().lag().equals(NONE));
      assertThat(consumer.ids()).hasSize((int) deliverable).doesNotHaveDuplicates();
      try (NamedTransaction open = stream.begin("open")) {
        open.inserts();
        stream.produce(5);
        Await.until(
            "it has looked", () -> stream.number("SELECT count(pending_head) FROM {cursor}") > 0);
        assertThat(snapshot().lag()).isEqualTo(new GroupLag(5, 0, 0, true));
        open.rollsBack();
        Await.until("all is done", () -> snapshot().lag().equals(NONE));
        assertThat(consumer.ids()).hasSize((int) deliverable + 5).doesNotHaveDuplicates();
      }
    }
    assertThat(snapshot().head()).isEqualTo(snapshot().claimed());
  }

  @Test
  void b29_lagIsZeroWhenNothingIsReadable() {
    registerInPartitions(1_000, 2);
    stream.produce(900);
    new StepReader(stream).poll();
    queue(3, "ready", 1, 0, 0, "-1 hour");
    stream.execute("DROP TABLE {log}_0");
    GroupSnapshot snapshot = snapshot();
    assertThat(snapshot.lag()).isEqualTo(NONE);
    assertThat(snapshot.head()).isEqualTo(500);
    assertThat(snapshot.oldestUnclaimed()).isNull();
    assertThat(snapshot.openRanges()).as("its lease is still there").isEqualTo(1);
    assertThat(snapshot.exceptions().due()).as("its row is still there").isEqualTo(1);
  }

  @Test
  void b70_lagIsNeverNegativeDuringFullTrafficAndGrowsWhileAllConsumersAreDown() throws Exception {
    AtomicBoolean stop = new AtomicBoolean();
    ConsumerGroup<RawPayload> group = client.stream(stream.name()).group("g");
    Producer<RawPayload> producer = client.stream(stream.name()).producer();
    List<CompletableFuture<Void>> producing =
        IntStream.range(0, 2)
            .mapToObj(
                i ->
                    CompletableFuture.runAsync(
                        () -> {
                          while (!stop.get()) {
                            producer.produce(RawPayload.of("{}"));
                          }
                        }))
            .toList();
    long moves = 0;
    try (Consumer first = Consumer.start(client, stream, message -> Outcome.done());
        Consumer second =
            Consumer.start(
                client,
                stream,
                message ->
                    message.attempt() == 0 && message.id() % 10 == 0
                        ? Outcome.delay(Duration.ofMillis(50))
                        : Outcome.done())) {
      long claimed = 0;
      for (int i = 0; i < 2_000; i++) {
        GroupSnapshot snapshot = group.snapshot();
        GroupLag lag = snapshot.lag();
        assertThat(Math.min(lag.unclaimed(), Math.min(lag.open(), lag.unresolved())))
            .as(snapshot.toString())
            .isNotNegative();
        assertThat(snapshot.head()).isGreaterThanOrEqualTo(snapshot.claimed());
        assertThat(snapshot.claimed()).isGreaterThanOrEqualTo(snapshot.committed());
        assertThat(snapshot.claimed()).isGreaterThanOrEqualTo(claimed);
        assertThat(snapshot.overdue()).isBetween(Duration.ZERO, Duration.ofMinutes(2));
        moves += snapshot.claimed() > claimed ? 1 : 0;
        claimed = snapshot.claimed();
      }
      assertThat(first.ids()).isNotEmpty();
      assertThat(second.ids()).isNotEmpty();
    } finally {
      stop.set(true);
      producing.forEach(CompletableFuture::join);
    }
    assertThat(moves).as("there was traffic").isGreaterThan(100);

    long lag = group.snapshot().lag().messages();
    for (int i = 0; i < 20; i++) {
      stream.produce(10);
      assertThat(group.snapshot().lag().messages()).isEqualTo(lag + 10);
      lag += 10;
    }
    group.destroy();
    assertThatThrownBy(group::snapshot).isInstanceOf(GroupNotFoundException.class);
  }

  @Test
  void b04_whoHoldsTheGroupUpIsNamedAndGoneAfterwards() {
    stream.produce(1);
    StepReader reader = new StepReader(stream);
    reader.poll();
    try (NamedTransaction blocker = stream.begin("nightly-batch")) {
      blocker.inserts();
      assertThat(snapshot().blockers()).as("nothing is behind it yet").isEmpty();
      stream.produce(2);
      int pid = (int) blocker.number("SELECT pg_backend_pid()");

      // no consumer has looked yet
      GroupSnapshot held = snapshot();
      assertThat(held.blockers()).hasSize(1);
      FenceBlocker named = held.blockers().get(0);
      assertThat(named.pid()).isEqualTo(pid);
      assertThat(named.application()).isEqualTo("nightly-batch");
      assertThat(named.age()).isBetween(Duration.ZERO, Duration.ofMinutes(2));
      assertThat(held.lag()).isEqualTo(new GroupLag(2, 1, 0, true));
      assertThat(held.overdue()).isPositive();

      // one has, and whoever comes later isn't waited for
      assertThat(reader.polls(2)).isEmpty();
      try (NamedTransaction later = stream.begin("later")) {
        later.inserts();
        assertThat(snapshot().blockers())
            .extracting(FenceBlocker::application)
            .containsExactly("nightly-batch");
        blocker.rollsBack();
        assertThat(snapshot().blockers()).isEmpty();
        assertThat(reader.polls(2)).containsExactly(3L, 4L);
        assertThat(snapshot().blockers()).as("it stands at no gap").isEmpty();
      }
    }
  }

  @Test
  void theOldestOfSeveralBlockersComesFirst() {
    try (NamedTransaction old = stream.begin("old");
        NamedTransaction young = stream.begin("young")) {
      old.takesTransactionId();
      young.inserts();
      old.inserts();
      stream.produce(1);
      assertThat(snapshot().blockers())
          .extracting(FenceBlocker::application)
          .containsExactly("old", "young");
    }
  }

  @Test
  void aPreparedTransactionBlocksWithoutAPid() {
    String name = "snapshot-" + stream.name();
    try (NamedTransaction a = stream.begin("A")) {
      a.inserts();
      stream.produce(1);
      a.runs("PREPARE TRANSACTION '" + name + "'");
    }
    try {
      assertThat(snapshot().blockers()).containsExactly(new FenceBlocker(null, null, null));
    } finally {
      stream.execute("ROLLBACK PREPARED '" + name + "'");
    }
    assertThat(snapshot().blockers()).isEmpty();
  }

  @Test
  void provenHolesAreNobodysFault() {
    try (NamedTransaction failed = stream.begin("failed")) {
      failed.inserts();
      failed.rollsBack();
    }
    stream.produce(1);
    assertThat(snapshot().blockers()).isEmpty();
    assertThat(snapshot().lag()).isEqualTo(new GroupLag(1, 0, 0, true));
  }

  @Test
  void aSnapshotWaitsForNoClaimAndHoldsUpNobody() throws Exception {
    stream.produce(2);
    try (NamedTransaction claim = stream.begin("claim")) {
      claim.runs("SELECT claimed FROM {cursor} FOR UPDATE");
      claim.runs("UPDATE {cursor} SET claimed = 2");
      claim.runs("LOCK TABLE {queue}, {lease}, {log} IN EXCLUSIVE MODE");
      GroupSnapshot meanwhile =
          CompletableFuture.supplyAsync(this::snapshot).get(30, TimeUnit.SECONDS);
      assertThat(meanwhile.claimed()).isZero();
      claim.commits();
    }
    String version = "SELECT xmin::text || ctid::text || xmax::text FROM {cursor}";
    List<String> before = stream.rows(version);
    assertThat(snapshot().claimed()).isEqualTo(2);
    assertThat(stream.rows(version)).as("neither locked nor written").isEqualTo(before);
  }

  @Test
  void beyondTheLimitLagIsAnUpperBoundThatKnowsTheOldestMessage() {
    registerInPartitions(1_000, 13);
    stream.produce(12_500);
    long last = 12_500;
    assertThat(snapshot().lag()).isEqualTo(new GroupLag(last, 0, 0, false));
    stream.execute("DROP TABLE {log}_0");
    long retained = last - 1_000;
    assertThat(snapshot().lag()).isEqualTo(new GroupLag(retained, 0, 0, false));
    stream.execute("DELETE FROM {log} WHERE id > " + (last - 10) + " AND id < " + last);
    assertThat(snapshot().lag()).as("at most").isEqualTo(new GroupLag(retained, 0, 0, false));
    stream.execute("UPDATE {cursor} SET claimed = " + (last - 100));
    assertThat(snapshot().lag()).isEqualTo(new GroupLag(91, 0, 0, true));
  }

  @Test
  void beyondTheLimitExceptionsAreCountedNoFurther() {
    stream.produce(25_000);
    stream.execute("UPDATE {cursor} SET claimed = 25000");
    stream.execute(
        "INSERT INTO {queue} (consumer_group_id, message_id, status, concurrency, attempts, can_run_after)"
            + " SELECT "
            + stream.group().id()
            + ", i, CASE WHEN i <= 12000 THEN 'ready' ELSE 'dead' END, 'parallel', 1, now()"
            + " FROM generate_series(1, 24000) AS i");
    GroupSnapshot snapshot = snapshot();
    assertThat(snapshot.exceptions()).isEqualTo(new ExceptionCounts(10_000, 0, 0, 0, 0, 10_000, 0));
    assertThat(snapshot.lag()).as("at most").isEqualTo(new GroupLag(0, 0, 25_000, false));
  }

  @Test
  void aGroupOrStreamThatIsNotThereIsSaidToBe() {
    assertThatThrownBy(() -> client.stream(stream.name()).group("none").snapshot())
        .isInstanceOf(GroupNotFoundException.class);
    assertThatThrownBy(() -> client.stream("none").group("g").snapshot())
        .isInstanceOf(StreamNotFoundException.class);
    // gone between the look at the catalog and the one at the tables
    Snapshots snapshots =
        new Snapshots(
            new Database(stream.dataSource(), database.schema()), Scope.system(database.schema()));
    client.stream(stream.name()).group("g").destroy();
    assertThatThrownBy(() -> snapshots.take(stream.info(), stream.group()))
        .isInstanceOf(GroupNotFoundException.class);
    client.stream(stream.name()).destroy();
    assertThatThrownBy(() -> snapshots.take(stream.info(), stream.group()))
        .isInstanceOf(StreamNotFoundException.class);
  }

  private void registerInPartitions(int size, int partitions) {
    stream =
        TestStream.register(
            database, StreamConfig.defaults().withPartitionSize(size), GroupConfig.defaults());
    stream.addPartitions(partitions);
  }

  private GroupSnapshot snapshot() {
    return client.stream(stream.name()).group("g").snapshot();
  }

  private void queue(long id, String status, int attempts, int forgiven, int delays, String when) {
    stream.execute(
        "INSERT INTO {queue} (consumer_group_id, message_id, status, concurrency, attempts, forgiven, delays,"
            + " can_run_after, lease_token, lease_expires_at) SELECT "
            + stream.group().id()
            + ", "
            + id
            + ", '"
            + status
            + "', 'parallel', "
            + attempts
            + ", "
            + forgiven
            + ", "
            + delays
            + ", now() + INTERVAL '"
            + when
            + "', CASE WHEN '"
            + status
            + "' = 'inflight' THEN gen_random_uuid() END, CASE WHEN '"
            + status
            + "' = 'inflight' THEN now() END");
  }
}
