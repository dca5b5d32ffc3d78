package io.sqlstreams.internal.operation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sqlstreams.ConsumerGroup;
import io.sqlstreams.Message;
import io.sqlstreams.Outcome;
import io.sqlstreams.Rewind;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.DeliveryLogMode;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.RetryPolicy;
import io.sqlstreams.config.Start;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.error.GroupNotFoundException;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.error.NotRetainedException;
import io.sqlstreams.internal.claim.Claimant;
import io.sqlstreams.internal.claim.ClaimedRange;
import io.sqlstreams.internal.claim.Claims;
import io.sqlstreams.internal.claim.Poll;
import io.sqlstreams.internal.claim.Reclaim;
import io.sqlstreams.internal.outcome.FinishedRange;
import io.sqlstreams.internal.outcome.Outcomes;
import io.sqlstreams.internal.outcome.Policies;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.lab.Await;
import io.sqlstreams.lab.Consumer;
import io.sqlstreams.lab.NamedTransaction;
import io.sqlstreams.lab.StepReader;
import io.sqlstreams.lab.Terms;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A group is moved back: what comes again, what is refused, and interleavings step by step. */
@SqlStreamsTest
class RewindIT {
  TestDatabase database;
  SqlStreams client;
  TestStream stream;
  ConsumerGroup<RawPayload> group;
  Reader reader;

  @BeforeEach
  void register() {
    client = TestStream.client(database);
    use(TestStream.register(database));
  }

  @AfterEach
  void close() {
    client.close();
  }

  @Test
  void everythingAboveThePlaceComesAgain() {
    stream.produce(10);
    reader.finish(reader.take(4));
    reader.finish(reader.take(4));
    Rewind preview = group.previewRewind(Start.after(3));
    Rewind rewind = group.rewind(Start.after(3));
    assertThat(preview).isEqualTo(rewind);
    assertThat(rewind.claimedBefore()).isEqualTo(8);
    assertThat(rewind.position()).isEqualTo(3);
    assertThat(rewind.messages()).isEqualTo(5);
    assertThat(rewind.firstId()).isEqualTo(4);
    assertThat(rewind.lastId()).isEqualTo(8);
    assertThat(List.of(rewind.firstCreatedAt().toString(), rewind.lastCreatedAt().toString()))
        .isEqualTo(List.of(createdAt(4).toString(), createdAt(8).toString()));
    assertThat(reader.take(100).ids()).isEqualTo(ids(4, 10));
    assertThat(stream.rows("SELECT claimed, rewinds FROM {cursor}")).containsExactly("10|1");
  }

  @Test
  void aPreviewWritesNothing() {
    stream.produce(10);
    reader.finish(reader.take(8));
    exception(5, "dead", 3);
    List<String> before = stream.rows("SELECT ctid, xmin, claimed, committed FROM {cursor}");
    Rewind preview = group.previewRewind(Start.beginning());
    assertThat(preview.position()).isZero();
    assertThat(preview.deadExceptions()).isEqualTo(1);
    assertThat(stream.rows("SELECT ctid, xmin, claimed, committed FROM {cursor}"))
        .isEqualTo(before);
    assertThat(stream.number("SELECT count(*) FROM {queue}")).isEqualTo(1);
    assertThat(stream.number("SELECT count(*) FROM {operations}")).isZero();
  }

  @Test
  void whatIsInTheExceptionQueueAboveLeavesItWithItsHistory() {
    stream.produce(10);
    reader.finish(reader.take(10));
    exception(2, "dead", 3);
    exception(3, "ready", 1);
    exception(5, "dead", 4);
    exception(6, "deferred", 0);
    inFlight(7, 2);
    Rewind rewind = group.rewind(Start.after(3));
    assertThat(rewind.openExceptions()).isEqualTo(2);
    assertThat(rewind.deadExceptions()).isEqualTo(1);
    assertThat(stream.rows("SELECT message_id, status FROM {queue} ORDER BY 1"))
        .containsExactly("2|dead", "3|ready");
    assertThat(
            stream.rows(
                "SELECT message_id, attempt, status, error FROM {deliveries} ORDER BY message_id"))
        .containsExactly(
            "5|4|superseded|superseded by a rewind; its last error: e5",
            "6|0|superseded|superseded by a rewind; its last error: e6",
            "7|2|superseded|superseded by a rewind; its last error: e7");
    assertThat(
            stream.rows(
                "SELECT operation, detail ->> 'start', detail ->> 'claimed_before', detail ->> 'position',"
                    + " detail ->> 'messages', detail ->> 'leases', detail ->> 'open_exceptions',"
                    + " detail ->> 'dead_exceptions', consumer_group_id FROM {operations}"))
        .containsExactly("rewind|after 3|10|3|7|0|2|1|" + stream.group().id());
  }

  @Test
  void aGroupWithoutADeliveryLogGetsNoRowInIt() {
    use(
        TestStream.register(
            database,
            StreamConfig.defaults(),
            GroupConfig.defaults().withDeliveryLog(DeliveryLogMode.OFF)));
    stream.produce(3);
    reader.finish(reader.take(3));
    exception(2, "dead", 3);
    assertThat(group.rewind(Start.beginning()).deadExceptions()).isEqualTo(1);
    assertThat(stream.number("SELECT count(*) FROM {deliveries}")).isZero();
  }

  @Test
  void aGroupIsNeverMovedForward() {
    stream.produce(10);
    reader.take(4);
    for (Start start : List.of(Start.after(5), Start.head(), Start.at(Instant.MAX))) {
      assertThatThrownBy(() -> group.rewind(start))
          .as(start.toString())
          .isInstanceOf(InvalidInputException.class)
          .hasMessageContainingAll(
              start.toString(), start.equals(Start.after(5)) ? "5" : "10", "4");
      assertThatThrownBy(() -> group.previewRewind(start))
          .isInstanceOf(InvalidInputException.class);
    }
    assertThat(stream.rows("SELECT claimed, rewinds FROM {cursor}")).containsExactly("4|0");
    Rewind stays = group.rewind(Start.after(4));
    assertThat(stays.messages()).isZero();
    assertThat(stays.firstId()).isNull();
    assertThat(stays.lastCreatedAt()).isNull();
    assertThat(stream.number("SELECT count(*) FROM {lease}")).as("it is at 4").isEqualTo(1);
  }

  @Test
  void unknownNamesAreReported() {
    assertThatThrownBy(() -> client.stream(stream.name()).group("other").rewind(Start.beginning()))
        .isInstanceOf(GroupNotFoundException.class)
        .hasMessageContainingAll("other", stream.name());
    assertThatThrownBy(() -> client.stream("none").group("g").previewRewind(Start.beginning()))
        .isInstanceOf(io.sqlstreams.error.StreamNotFoundException.class);
  }

  @Test
  void b28_aRewindPastWhatIsRetainedIsNeverSilent() {
    use(
        TestStream.register(
            database, StreamConfig.defaults().withPartitionSize(100), GroupConfig.defaults()));
    stream.produce(100);
    client.stream(stream.name()).producer().produce(RawPayload.of("{}"));
    reader.finish(reader.take(1_000));
    stream.execute(
        "UPDATE {log} SET created_at = '2026-03-01T00:00:00Z'::timestamptz + id * INTERVAL '1 second'");
    stream.dropPartition(0);
    List<Start> lost =
        List.of(Start.after(0), Start.after(99), Start.at(Instant.parse("2026-03-01T00:01:40.9Z")));
    for (Start start : lost) {
      assertThatThrownBy(() -> group.rewind(start))
          .as(start.toString())
          .isInstanceOf(NotRetainedException.class);
      assertThatThrownBy(() -> group.previewRewind(start)).isInstanceOf(NotRetainedException.class);
    }
    assertThat(stream.rows("SELECT claimed, rewinds FROM {cursor}")).containsExactly("101|0");
    Rewind rewind = group.rewind(Start.beginning());
    assertThat(rewind.position()).isEqualTo(100);
    assertThat(reader.take(10).ids()).containsExactly(101L);
  }

  /** It stands below what is retained; the beginning is where it stands. */
  @Test
  void b28_aGroupThatWasLeftBehindCanBeRewoundToTheBeginning() {
    use(
        TestStream.register(
            database, StreamConfig.defaults().withPartitionSize(100), GroupConfig.defaults()));
    List<Long> produced = stream.produce(150);
    reader.finish(reader.take(30));
    stream.dropPartition(0);
    assertThat(group.rewind(Start.beginning()).position()).isEqualTo(30);
    assertThat(new StepReader(stream).polls(2)).isEqualTo(produced.subList(100, 150));
  }

  /**
   * Ids below a group's start were never seen by it: their writers may still be open when it is
   * rewound below them.
   */
  @Test
  void aGroupThatBeganAtTheHeadWaitsForOpenWritersBelowIt() {
    try (NamedTransaction writer = stream.begin("writer")) {
      long one = writer.inserts();
      long two = stream.produce(1).get(0);
      ConsumerGroup<RawPayload> late = client.stream(stream.name()).group("late");
      late.register(GroupConfig.defaults().withStart(Start.head()));
      Rewind rewind = late.rewind(Start.beginning());
      assertThat(List.of(rewind.claimedBefore(), rewind.position())).containsExactly(two, 0L);
      StepReader steps = new StepReader(stream, late.get().orElseThrow());
      assertThat(steps.polls(3)).as("the writer is open").isEmpty();
      writer.commits();
      assertThat(steps.polls(3)).containsExactly(one, two);
    }
  }

  @Test
  void aProvenHoleNeedsNoSecondProof() {
    stream.produce(2);
    try (NamedTransaction failed = stream.begin("failed")) {
      failed.inserts();
      failed.rollsBack();
    }
    stream.produce(2);
    StepReader steps = new StepReader(stream);
    assertThat(steps.polls(3)).containsExactly(1L, 2L, 4L, 5L);
    long looks = steps.looks();
    group.rewind(Start.beginning());
    try (NamedTransaction writer = stream.begin("writer")) {
      writer.inserts();
      assertThat(steps.polls(2)).containsExactly(1L, 2L, 4L, 5L);
    }
    assertThat(steps.looks()).isEqualTo(looks);
  }

  @Test
  void aClaimThatWaitsForTheCursorRowEndsFirstAndItsRangeIsTakenAway() throws Exception {
    stream.produce(10);
    try (NamedTransaction other = stream.begin("other")) {
      other.runs("SELECT claimed FROM {cursor} FOR UPDATE");
      var claim = CompletableFuture.supplyAsync(() -> reader.take(10));
      stream.awaitClaimThatWaits();
      var rewind = CompletableFuture.supplyAsync(() -> group.rewind(Start.beginning()));
      stream.awaitWaiting("LOCK TABLE ONLY");
      other.commits();
      assertThat(claim.get().ids()).isEqualTo(ids(1, 10));
      assertThat(rewind.get().claimedBefore()).isEqualTo(10);
      assertThat(rewind.get().messages()).as("counted before, and since").isEqualTo(10);
      assertThat(reader.finish(claim.get())).as("its result is refused").isFalse();
    }
    assertThat(reader.take(100).ids()).isEqualTo(ids(1, 10));
  }

  @Test
  void aClaimThatComesDuringARewindBeginsWhereThatEnds() throws Exception {
    stream.produce(10);
    reader.finish(reader.take(6));
    try (NamedTransaction other = pauseOperations()) {
      var rewind = CompletableFuture.supplyAsync(() -> group.rewind(Start.after(2)));
      stream.awaitWaiting("note_rewind");
      var claim = CompletableFuture.supplyAsync(() -> reader.take(3));
      stream.awaitClaimThatWaits();
      other.commits();
      rewind.get();
      assertThat(claim.get().ids()).isEqualTo(ids(3, 5));
    }
    assertThat(stream.rows("SELECT claimed, committed FROM {cursor}")).containsExactly("5|2");
  }

  @Test
  void aStaleAdvanceOfCommittedIsVoid() throws Exception {
    stream.produce(10);
    reader.finish(reader.take(10));
    try (NamedTransaction other = pauseOperations()) {
      var rewind = CompletableFuture.supplyAsync(() -> group.rewind(Start.after(4)));
      stream.awaitWaiting("note_rewind");
      // it has seen the group done with all ten
      var advance = CompletableFuture.runAsync(reader.claims::advanceCommitted);
      stream.awaitWaiting("advance_committed");
      other.commits();
      rewind.get();
      advance.get();
    }
    assertThat(stream.rows("SELECT claimed, committed FROM {cursor}")).containsExactly("4|0");
    reader.claims.advanceCommitted();
    assertThat(stream.number("SELECT committed FROM {cursor}")).isEqualTo(4);
  }

  @Test
  void aRangeAcrossThePlaceIsCutAndGivenBack() {
    stream.produce(10);
    Range across = reader.take(6);
    Range above = reader.take(4);
    group.rewind(Start.after(4));
    assertThat(stream.rows("SELECT low, high, session IS NULL, expires_at <= now() FROM {lease}"))
        .containsExactly("0|4|t|t");
    assertThat(reader.finish(across)).isFalse();
    assertThat(reader.finish(above)).isFalse();
    Reclaim reclaim = reader.claims.reclaim(3, Terms.none());
    assertThat(reclaim.range()).isNotNull();
    assertThat(ids(reclaim.range())).isEqualTo(ids(1, 4));
    assertThat(stream.number("SELECT reclaims FROM {lease}")).as("nobody died").isZero();
    assertThat(reader.take(100).ids()).isEqualTo(ids(5, 10));
  }

  @Test
  void aTakeOverBeforeARewindLosesToIt() {
    stream.produce(10);
    reader.take(10);
    stream.execute("UPDATE {lease} SET expires_at = now() - INTERVAL '1 second'");
    ClaimedRange taken = reader.claims.reclaim(3, Terms.none()).range();
    assertThat(taken).isNotNull();
    group.rewind(Start.beginning());
    assertThat(reader.finish(new Range(taken))).isFalse();
    assertThat(stream.number("SELECT count(*) FROM {lease}")).isZero();
    assertThat(reader.take(100).ids()).isEqualTo(ids(1, 10));
  }

  @Test
  void aTakeOverThatComesDuringARewindFindsWhatThatLeft() throws Exception {
    stream.produce(10);
    reader.take(10);
    stream.execute("UPDATE {lease} SET expires_at = now() - INTERVAL '1 second'");
    try (NamedTransaction other = pauseOperations()) {
      var rewind = CompletableFuture.supplyAsync(() -> group.rewind(Start.after(4)));
      stream.awaitWaiting("note_rewind");
      var reclaim = CompletableFuture.supplyAsync(() -> reader.claims.reclaim(3, Terms.none()));
      stream.awaitWaiting("lock_group_leases");
      other.commits();
      rewind.get();
      assertThat(ids(reclaim.get().range())).isEqualTo(ids(1, 4));
    }
    assertThat(reader.take(100).ids()).isEqualTo(ids(5, 10));
  }

  @Test
  void twoRewindsTakeTurns() throws Exception {
    stream.produce(10);
    reader.take(10);
    try (NamedTransaction other = pauseOperations()) {
      var first = CompletableFuture.supplyAsync(() -> group.rewind(Start.after(6)));
      stream.awaitWaiting("note_rewind");
      var second = CompletableFuture.supplyAsync(() -> group.rewind(Start.after(3)));
      stream.awaitWaiting("LOCK TABLE ONLY");
      other.commits();
      assertThat(first.get().claimedBefore()).isEqualTo(10);
      assertThat(second.get().claimedBefore()).isEqualTo(6);
      assertThat(second.get().messages()).as("looked at again").isEqualTo(3);
    }
    assertThat(stream.rows("SELECT claimed, committed, rewinds FROM {cursor}"))
        .containsExactly("3|0|2");
  }

  @Test
  void aRewindThatComesTooLateToBeOneIsRefused() throws Exception {
    stream.produce(10);
    reader.take(10);
    try (NamedTransaction other = pauseOperations()) {
      var first = CompletableFuture.supplyAsync(() -> group.rewind(Start.after(3)));
      stream.awaitWaiting("note_rewind");
      var second = CompletableFuture.supplyAsync(() -> group.rewind(Start.after(6)));
      stream.awaitWaiting("LOCK TABLE ONLY");
      other.commits();
      first.get();
      assertThatThrownBy(second::get)
          .hasCauseInstanceOf(InvalidInputException.class)
          .hasMessageContainingAll("id 6", "id 3");
    }
    assertThat(stream.rows("SELECT claimed, rewinds FROM {cursor}")).containsExactly("3|1");
  }

  @Test
  void whatASessionHeldIsRefusedAndComesAgain() throws Exception {
    stream.produce(20);
    CountDownLatch begun = new CountDownLatch(4);
    CountDownLatch go = new CountDownLatch(1);
    try (Consumer consumer =
        Consumer.start(
            client,
            stream,
            message -> {
              begun.countDown();
              go.await();
              return Outcome.done();
            })) {
      begun.await();
      long leases = stream.number("SELECT count(*) FROM {lease}");
      Rewind rewind = group.rewind(Start.beginning());
      List<Long> before = List.copyOf(consumer.ids());
      assertThat(rewind.messages()).isGreaterThanOrEqualTo(4);
      go.countDown();
      settled();
      consumer.close();
      assertThat(consumer.counters().leaseLost()).isGreaterThanOrEqualTo(leases).isPositive();
      List<Long> all = consumer.ids();
      assertThat(all.subList(before.size(), all.size())).as("all again").containsAll(ids(1, 20));
      assertThat(stream.number("SELECT count(*) FROM {queue}")).isZero();
    }
  }

  @Test
  void anExceptionInFlightIsRefusedAndComesAgainAsNew() throws Exception {
    use(
        TestStream.register(
            database,
            StreamConfig.defaults(),
            GroupConfig.defaults()
                .withRetry(RetryPolicy.defaults().withInitialBackoff(Duration.ofMillis(10)))));
    long id = stream.produce(1).get(0);
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    // the new attempt may come before the old one is let go
    AtomicBoolean hasFailed = new AtomicBoolean();
    try (Consumer consumer =
        Consumer.start(
            client,
            stream,
            message -> {
              if (!hasFailed.getAndSet(true)) {
                throw new IllegalStateException("no");
              }
              if (message.attempt() == 1) {
                begun.countDown();
                go.await();
                throw new IllegalStateException("too late");
              }
              return Outcome.done();
            })) {
      begun.await();
      Rewind rewind = group.rewind(Start.beginning());
      assertThat(rewind.openExceptions()).isEqualTo(1);
      go.countDown();
      settled();
      consumer.awaitReceived(3);
      consumer.close();
      assertThat(consumer.received()).extracting(Message::attempt).containsExactly(0, 1, 0);
      assertThat(consumer.counters().leaseLost()).isEqualTo(1);
    }
    assertThat(stream.number("SELECT count(*) FROM {queue}")).isZero();
    assertThat(stream.rows("SELECT message_id, attempt, status FROM {deliveries} ORDER BY id"))
        .containsExactly(id + "|0|failure", id + "|1|superseded");
  }

  /** The rewind waits for a result that is being recorded, and takes it away then. */
  @Test
  void anExceptionThatIsBeingRecordedIsWaitedFor() throws Exception {
    stream.produce(3);
    reader.finish(reader.take(3));
    inFlight(2, 1);
    try (NamedTransaction recording = stream.begin("recording")) {
      recording.runs(
          "UPDATE {queue} SET status = 'dead', attempts = 2, last_error = 'again', lease_token = NULL, lease_expires_at = NULL");
      var rewind = CompletableFuture.supplyAsync(() -> group.rewind(Start.beginning()));
      stream.awaitWaiting("supersede_exceptions_above");
      recording.commits();
      assertThat(rewind.get().deadExceptions()).isEqualTo(1);
      assertThat(rewind.get().openExceptions()).isZero();
    }
    assertThat(stream.rows("SELECT attempt, error FROM {deliveries}"))
        .containsExactly("2|superseded by a rewind; its last error: again");
  }

  @Test
  void consumersOfThisProcessAreWoken() {
    stream.produce(5);
    try (Consumer consumer =
        Consumer.start(
            client,
            stream,
            message -> Outcome.done(),
            Consumer.QUICK.withPollInterval(Duration.ofHours(1)))) {
      Await.until("all are done", () -> consumer.counters().done() == 5);
      group.rewind(Start.after(3));
      consumer.awaitReceived(7);
      assertThat(consumer.ids()).containsExactlyInAnyOrder(1L, 2L, 3L, 4L, 4L, 5L, 5L);
    }
  }

  private void use(TestStream stream) {
    this.stream = stream;
    this.group = client.stream(stream.name()).group(stream.group().name());
    this.reader = new Reader(stream);
  }

  /** Holds up whoever is about to write to the operation log, until it ends. */
  private NamedTransaction pauseOperations() {
    return stream.begin("pause").runs("LOCK TABLE {operations} IN SHARE MODE");
  }

  private void exception(long id, String status, int attempts) {
    stream.execute(
        "INSERT INTO {queue} (consumer_group_id, message_id, status, concurrency, attempts, can_run_after, last_error) VALUES ("
            + stream.group().id()
            + ", "
            + id
            + ", '"
            + status
            + "', 'parallel', "
            + attempts
            + ", now() + INTERVAL '1 hour', 'e"
            + id
            + "')");
  }

  private void inFlight(long id, int attempts) {
    exception(id, "ready", attempts);
    stream.execute(
        "UPDATE {queue} SET status = 'inflight', lease_token = gen_random_uuid(), lease_expires_at = now() + INTERVAL '1 hour'"
            + " WHERE message_id = "
            + id);
  }

  private Instant createdAt(long id) {
    return Instant.parse(
        stream
            .rows(
                "SELECT to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') FROM {log} WHERE id = "
                    + id)
            .get(0));
  }

  private void settled() {
    Await.until(
        "the group is done with everything",
        () ->
            stream.number("SELECT count(*) FROM {queue} WHERE status <> 'dead'") == 0
                && stream.number("SELECT committed FROM {cursor}")
                    == stream.number("SELECT max(id) FROM {log}"));
  }

  private static List<Long> ids(long first, long last) {
    return LongStream.rangeClosed(first, last).boxed().toList();
  }

  private static List<Long> ids(ClaimedRange range) {
    return range.messages().stream().map(claimed -> claimed.message().id()).toList();
  }

  private record Range(ClaimedRange claimed) {
    List<Long> ids() {
      return RewindIT.ids(claimed);
    }
  }

  /** A session that takes and finishes ranges when it is told to. */
  private static final class Reader {
    final Claims claims;
    final Outcomes outcomes;

    Reader(TestStream stream) {
      Database database = new Database(stream.dataSource(), stream.scope().schema());
      long group = stream.group().id();
      this.claims =
          new Claims(
              database,
              stream.scope(),
              "g",
              new Claimant(group, UUID.randomUUID(), Duration.ofHours(1)));
      this.outcomes =
          new Outcomes(database, stream.scope(), "g", group, new Policies(stream.group().config()));
    }

    Range take(int messages) {
      Poll poll = claims.claim(messages, Long.MAX_VALUE, true, false, Terms.none());
      assertThat(poll.range()).isNotNull();
      return new Range(poll.range());
    }

    /** Every message of it is done; whether that was still accepted. */
    boolean finish(Range range) {
      UUID token = range.claimed().token();
      return outcomes
          .finish(List.of(new FinishedRange(token, null, List.of(), Set.of())))
          .contains(token);
    }
  }
}
