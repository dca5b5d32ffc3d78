package io.sqlstreams.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.PayloadType;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.internal.log.StoredMessage;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.lab.NamedTransaction;
import io.sqlstreams.lab.StepReader;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.lab.Writers;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What one claim takes, and where it leaves the cursor. */
@SqlStreamsTest
class ClaimIT {
  private static final long ANY_BYTES = Long.MAX_VALUE;

  TestDatabase database;
  TestStream stream;
  Claims claims;

  @BeforeEach
  void register() {
    stream = TestStream.register(database);
    claims = claims();
  }

  @Test
  void takesUpToItsLimitAndThenTheRest() {
    List<Long> ids = stream.produce(10);
    assertThat(ids(claim(0, 4, ANY_BYTES, true))).isEqualTo(ids.subList(0, 4));
    assertThat(ids(claim(0, 4, ANY_BYTES, true))).isEqualTo(ids.subList(4, 8));
    assertThat(ids(claim(0, 4, ANY_BYTES, true))).isEqualTo(ids.subList(8, 10));
    Poll empty = claim(0, 4, ANY_BYTES, true);
    assertThat(empty.range()).isNull();
    assertThat(empty.atGap()).isFalse();
    assertThat(stream.rows("SELECT low, high FROM {lease} ORDER BY low"))
        .containsExactly("0|4", "4|8", "8|10");
  }

  @Test
  void looksOnlyWhenItMayTakeNothing() {
    stream.produce(3);
    Poll poll = claim(0, 0, ANY_BYTES, true);
    assertThat(poll.range()).isNull();
    assertThat(poll.moved()).isFalse();
    assertThat(stream.number("SELECT claimed FROM {cursor}")).isZero();
  }

  @Test
  void passesProvenHolesEvenWithNothingBehindThem() {
    stream.produce(2);
    holes(5);
    assertThat(claim(0, 10, ANY_BYTES, true).range()).isNotNull();
    Poll overHoles = claim(7, 10, ANY_BYTES, true);
    assertThat(overHoles.moved()).isTrue();
    assertThat(overHoles.range()).isNull();
    assertThat(stream.number("SELECT claimed FROM {cursor}")).isEqualTo(7);
    assertThat(stream.produce(1)).isEqualTo(ids(claim(7, 10, ANY_BYTES, true)));
  }

  @Test
  void takesWhatIsProvenAndTheRunRightAboveItButNothingBehindAnUnprovenHole() {
    List<Long> first = stream.produce(2);
    holes(3);
    List<Long> second = stream.produce(2);
    holes(1);
    stream.produce(2);
    // 1 2 . . . 6 7 . 9 10, proven up to 6
    Poll poll = claim(6, 10, ANY_BYTES, true);
    assertThat(ids(poll)).containsExactly(1L, 2L, 6L, 7L);
    assertThat(poll.range()).isNotNull();
    assertThat(poll.range().high()).isEqualTo(7);
    assertThat(claim(6, 10, ANY_BYTES, true).atGap()).isTrue();
    assertThat(first.size() + second.size()).isEqualTo(4);
  }

  @Test
  void theLimitOfMessagesCanEndInFrontOfAProvenHole() {
    stream.produce(2);
    holes(3);
    stream.produce(2);
    assertThat(ids(claim(7, 2, ANY_BYTES, true))).containsExactly(1L, 2L);
    assertThat(stream.number("SELECT claimed FROM {cursor}")).isEqualTo(2);
    assertThat(ids(claim(7, 2, ANY_BYTES, true))).containsExactly(6L, 7L);
  }

  @ParameterizedTest
  @ValueSource(strings = {"json", "jsonb", "bytea"})
  void theLimitOfBytesCountsWhatWillBeInMemoryAndAdmitsOneMessageAlways(String type) {
    stream =
        TestStream.register(
            database,
            StreamConfig.defaults()
                .withPayloadType(PayloadType.valueOf(type.toUpperCase(Locale.ROOT))),
            GroupConfig.defaults());
    claims = claims();
    // compresses to almost nothing
    String payload =
        type.equals("bytea")
            ? "convert_to(repeat('x', 100000), 'UTF8')"
            : "('\"' || repeat('x', 99998) || '\"')::" + type;
    stream.execute(
        "INSERT INTO {log} (schema_version, payload) SELECT 1, "
            + payload
            + " FROM generate_series(1, 5)");
    assertThat(ids(claim(0, 10, 250_000, true))).containsExactly(1L, 2L);
    assertThat(ids(claim(0, 10, 1, true))).containsExactly(3L);
    // a bound of bytes doesn't stop at what is proven either
    assertThat(ids(claim(5, 10, 100_000, true))).containsExactly(4L);
    assertThat(ids(claim(5, 10, ANY_BYTES, true))).containsExactly(5L);
  }

  @Test
  void tombstonesAreMessagesToo() {
    stream.execute(
        "INSERT INTO {log} (schema_version, payload) SELECT 1, CASE WHEN i % 2 = 0 THEN NULL ELSE '{}'::json END FROM generate_series(1, 6) i");
    assertThat(ids(claim(0, 4, ANY_BYTES, true))).containsExactly(1L, 2L, 3L, 4L);
    assertThat(ids(claim(0, 4, ANY_BYTES, true))).containsExactly(5L, 6L);
  }

  @Test
  void committedStopsBelowWhatIsOpenAndMovesWithTheNextClaim() {
    stream.produce(9);
    Poll first = claim(0, 3, ANY_BYTES, true);
    Poll second = claim(0, 3, ANY_BYTES, true);
    stream.execute("DELETE FROM {lease} WHERE low = 3");
    claim(0, 1, ANY_BYTES, true);
    assertThat(stream.number("SELECT committed FROM {cursor}"))
        .as("the first range is open")
        .isZero();
    stream.execute("DELETE FROM {lease} WHERE low = 0");
    claim(0, 1, ANY_BYTES, true);
    assertThat(stream.number("SELECT committed FROM {cursor}")).isEqualTo(6);
    assertThat(first.range()).isNotNull();
    assertThat(second.range()).isNotNull();
  }

  /**
   * A claim that waited for another one must not take {@code committed} from that one's {@code
   * claimed}: it doesn't see the lease that belongs to it.
   */
  @Test
  void committedIsNotTakenFromACursorThatIsNewerThanTheSnapshot() throws Exception {
    stream.produce(4);
    try (NamedTransaction other = stream.begin("other")) {
      other.runs("SELECT claimed FROM {cursor} FOR UPDATE");
      var waiting =
          CompletableFuture.supplyAsync(() -> claims.claim(10, ANY_BYTES, true, List.of()));
      stream.awaitClaimThatWaits();
      other.runs(
          "INSERT INTO {lease} (token, consumer_group_id, low, high, expires_at, session) SELECT gen_random_uuid(), "
              + stream.group().id()
              + ", 0, 2, now() + INTERVAL '1 minute', gen_random_uuid()");
      other.runs("UPDATE {cursor} SET claimed = 2");
      other.commits();
      assertThat(ids(waiting.get())).containsExactly(3L, 4L);
    }
    assertThat(stream.number("SELECT committed FROM {cursor}")).isZero();
  }

  @Test
  void anExpiredRangeIsTakenOverAndThenDissolved() {
    List<Long> ids = stream.produce(3);
    claim(0, 10, ANY_BYTES, true);
    assertThat(claims.reclaim(List.of(), 3).found()).as("its lease runs").isFalse();
    for (int times = 1; times <= 3; times++) {
      expire();
      Reclaim reclaim = claims.reclaim(List.of(), 3);
      assertThat(reclaim.range()).isNotNull();
      assertThat(reclaim.range().messages().stream().map(StoredMessage::id)).isEqualTo(ids);
      assertThat(stream.number("SELECT reclaims FROM {lease}")).isEqualTo(times);
    }
    expire();
    Reclaim last = claims.reclaim(List.of(), 3);
    assertThat(last.range()).isNull();
    assertThat(last.quarantined()).isEqualTo(3);
    assertThat(stream.rows("SELECT message_id, status, attempts, suspect FROM {queue} ORDER BY 1"))
        .containsExactly("1|ready|0|t", "2|ready|0|t", "3|ready|0|t");
    assertThat(stream.number("SELECT count(*) FROM {lease}")).isZero();
  }

  @Test
  void whatADeadSessionLeftComesBeforeWhatIsFresh() {
    List<Long> left = stream.produce(3);
    claim(0, 10, ANY_BYTES, true);
    expire();
    List<Long> fresh = stream.produce(2);
    Poll poll = claim(0, 10, ANY_BYTES, true);
    assertThat(poll.moved()).isFalse();
    assertThat(poll.leaseExpiresInMicros()).isLessThanOrEqualTo(0);
    Reclaim reclaim = claims.reclaim(List.of(), 3);
    assertThat(reclaim.range()).isNotNull();
    assertThat(reclaim.range().messages().stream().map(StoredMessage::id)).isEqualTo(left);
    assertThat(ids(claim(0, 10, ANY_BYTES, true))).isEqualTo(fresh);
  }

  @Test
  void aSessionTakesNothingOverFromItself() {
    stream.produce(3);
    ClaimedRange range = claim(0, 10, ANY_BYTES, true).range();
    assertThat(range).isNotNull();
    expire();
    List<UUID> held = List.of(range.token());
    assertThat(claims.claim(10, ANY_BYTES, true, held).leaseExpiresInMicros())
        .isEqualTo(Poll.NEVER);
    assertThat(claims.reclaim(held, 3).found()).isFalse();
    assertThat(claims.reclaim(List.of(), 3).found()).isTrue();
  }

  @Test
  void aRangeOfWhichEverythingIsDoneJustEnds() {
    stream.produce(3);
    claim(0, 10, ANY_BYTES, true);
    stream.execute("UPDATE {lease} SET low = high");
    expire();
    Reclaim reclaim = claims.reclaim(List.of(), 3);
    assertThat(reclaim.found()).isTrue();
    assertThat(reclaim.range()).isNull();
    assertThat(reclaim.quarantined()).isZero();
    assertThat(stream.number("SELECT count(*) FROM {lease}")).isZero();
  }

  @Test
  void b31_aRangeThatIsBeingCompletedIsNotTakenOver() {
    stream.produce(3);
    claim(0, 10, ANY_BYTES, true);
    expire();
    try (NamedTransaction completing = stream.begin("completing")) {
      completing.runs("DELETE FROM {lease}");
      assertThat(claims.reclaim(List.of(), 3).found()).isFalse();
      completing.commits();
    }
    assertThat(claims.reclaim(List.of(), 3).found()).isFalse();
    assertThat(stream.number("SELECT count(*) FROM {queue}")).isZero();
  }

  @Test
  void suspectsComeOneAtATimeAndOthersTogether() {
    stream.produce(6);
    stream.execute(
        "INSERT INTO {queue} (consumer_group_id, message_id, status, concurrency, attempts, can_run_after, suspect)"
            + " SELECT "
            + stream.group().id()
            + ", i, 'ready', 'parallel', 0, now(), i <= 3 FROM generate_series(1, 6) AS i");
    ExceptionClaims exceptions =
        new ExceptionClaims(
            new Database(stream.dataSource(), database.schema()), stream.scope(), "g", claimant());
    assertThat(exceptions.claimDue(10, false))
        .extracting(ClaimedException::messageId)
        .containsExactly(4L, 5L, 6L);
    assertThat(exceptions.claimDue(10, true))
        .extracting(ClaimedException::messageId)
        .containsExactly(1L);
    assertThat(claim(0, 0, ANY_BYTES, false).exceptionDueInMicros()).isEqualTo(Poll.NEVER);
    assertThat(claim(0, 0, ANY_BYTES, true).exceptionDueInMicros()).isLessThanOrEqualTo(0);
  }

  /**
   * Several sessions of a group, writers that pause and roll back: every id once, in order within
   * each claim.
   */
  @Test
  void severalClaimersShareOneCursorWithoutLossOrOverlap() throws Exception {
    Set<Long> all = new ConcurrentSkipListSet<>();
    List<Thread> threads = new ArrayList<>();
    List<String> faults = new CopyOnWriteArrayList<>();
    AtomicBoolean writing = new AtomicBoolean(true);
    for (int claimer = 0; claimer < 4; claimer++) {
      threads.add(
          new Thread(
              () -> {
                StepReader reader = new StepReader(stream);
                boolean last = false;
                while (!last || reader.isBehind()) {
                  last = !writing.get();
                  for (long id : reader.poll()) {
                    if (!all.add(id)) {
                      faults.add("twice: " + id);
                    }
                  }
                }
              }));
    }
    Writers writers = new Writers(stream, 8, 2_000, 0.05);
    threads.forEach(Thread::start);
    writers.run();
    writing.set(false);
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(faults).isEmpty();
    assertThat(new ArrayList<>(all)).isEqualTo(stream.longs("SELECT id FROM {log} ORDER BY id"));
  }

  private void holes(int number) {
    try (NamedTransaction failed = stream.begin("failed")) {
      for (int i = 0; i < number; i++) {
        failed.inserts();
      }
      failed.rollsBack();
    }
  }

  private void expire() {
    stream.execute("UPDATE {lease} SET expires_at = now() - INTERVAL '1 second'");
  }

  private Claims claims() {
    return new Claims(
        new Database(stream.dataSource(), database.schema()),
        stream.scope(),
        "g",
        claimant(),
        () -> true);
  }

  private Claimant claimant() {
    return new Claimant(stream.group().id(), UUID.randomUUID(), Duration.ofSeconds(60));
  }

  /** Claims with this head proven before. */
  private Poll claim(long settled, int messages, long bytes, boolean takeSuspect) {
    stream.execute(
        "UPDATE {cursor} SET settled_head = " + settled + " WHERE settled_head <> " + settled);
    return claims.claim(messages, bytes, takeSuspect, List.of());
  }

  private static List<Long> ids(Poll poll) {
    ClaimedRange range = poll.range();
    return range == null ? List.of() : range.messages().stream().map(StoredMessage::id).toList();
  }
}
