package io.sqlstreams.internal.order;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.SqlStreams;
import io.sqlstreams.config.Concurrency;
import io.sqlstreams.config.DeliveryLogMode;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.internal.claim.ClaimTerms;
import io.sqlstreams.internal.claim.Claimant;
import io.sqlstreams.internal.claim.ClaimedException;
import io.sqlstreams.internal.claim.ClaimedMessage;
import io.sqlstreams.internal.claim.ClaimedRange;
import io.sqlstreams.internal.claim.Claims;
import io.sqlstreams.internal.claim.ExceptionClaims;
import io.sqlstreams.internal.claim.ExpiredAttempt;
import io.sqlstreams.internal.claim.Poll;
import io.sqlstreams.internal.claim.Reclaim;
import io.sqlstreams.internal.outcome.FinishedMessage;
import io.sqlstreams.internal.outcome.FinishedRange;
import io.sqlstreams.internal.outcome.Outcomes;
import io.sqlstreams.internal.outcome.Policies;
import io.sqlstreams.internal.outcome.Verdict;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.lab.NamedTransaction;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.PostgresExtension;
import io.sqlstreams.test.TestDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The steps of several sessions at the messages of a key, in the orders that matter. */
@ExtendWith(PostgresExtension.class)
class KeyStepsIT {
  private static final long ANY_BYTES = Long.MAX_VALUE;
  private static final Verdict AGAIN =
      new Verdict(Verdict.Status.READY, Verdict.Event.FAILURE, 0, 1, 0, 0, "no");
  private static final Verdict DEAD =
      new Verdict(Verdict.Status.DEAD, Verdict.Event.KILLED, 0, 1, 0, 0, "no");

  private static final Verdict DEFERRED =
      new Verdict(Verdict.Status.DEFERRED, Verdict.Event.DEFERRED, 0, 0, 0, 0, null);

  TestDatabase database;
  TestStream stream;
  Concurrency concurrency = Concurrency.ORDERED;

  private void register(Concurrency of) {
    concurrency = of;
    stream =
        TestStream.register(
            database, StreamConfig.defaults(), GroupConfig.defaults().withConcurrency(of));
  }

  /** A session of the group. */
  private final class Session {
    private final GroupConfig config = GroupConfig.defaults().withConcurrency(concurrency);
    private final Database sql = new Database(stream.dataSource(), database.schema());
    private final Claimant claimant =
        new Claimant(stream.group().id(), UUID.randomUUID(), Duration.ofSeconds(60));
    private final Claims claims = new Claims(sql, stream.scope(), "g", claimant);
    private final ExceptionClaims exceptions =
        new ExceptionClaims(sql, stream.scope(), "g", claimant);
    private final Outcomes outcomes =
        new Outcomes(sql, stream.scope(), "g", stream.group().id(), new Policies(config));
    private final List<UUID> chained = new ArrayList<>();

    Poll poll(int messages, boolean locks) {
      return claims.claim(messages, ANY_BYTES, true, locks, terms());
    }

    private ClaimTerms terms() {
      return new ClaimTerms(concurrency, null, DeliveryLogMode.ALL, chained, chained);
    }

    ClaimedRange claim(int messages) {
      return held(poll(messages, true).range());
    }

    Reclaim reclaim() {
      Reclaim reclaim = claims.reclaim(3, terms());
      if (reclaim.range() != null) {
        held(reclaim.range());
      }
      return reclaim;
    }

    private ClaimedRange held(ClaimedRange range) {
      if (range != null) {
        chained.add(range.token());
      }
      return range;
    }

    boolean finish(ClaimedRange range, String... freedKeys) {
      chained.remove(range.token());
      return !outcomes
          .finish(List.of(new FinishedRange(range.token(), null, List.of(), Set.of(freedKeys))))
          .isEmpty();
    }

    void finish(ClaimedRange range, long id, String key, Verdict verdict) {
      chained.remove(range.token());
      outcomes.finish(
          List.of(
              new FinishedRange(
                  range.token(),
                  null,
                  List.of(new FinishedMessage(id, key, concurrency, range.token(), verdict)),
                  verdict.isResolved() || concurrency == Concurrency.EXCLUSIVE
                      ? Set.of(key)
                      : Set.of())));
    }

    List<Long> claimDue(int most) {
      return exceptions.claimDue(most, false, true).stream()
          .map(ClaimedException::messageId)
          .toList();
    }

    Set<Long> finishDue(UUID token, Verdict verdict, long... ids) {
      return outcomes.finishExceptions(
          Arrays.stream(ids)
              .mapToObj(id -> new FinishedMessage(id, "a", concurrency, token, verdict))
              .toList());
    }
  }

  @Test
  void aMessageWaitsForOneOfItsKeyInAnotherSessionsRange() {
    register(Concurrency.ORDERED);
    produce("a", "a", "b");
    Session first = new Session();
    Session second = new Session();
    ClaimedRange held = first.claim(1);
    Poll poll = second.poll(10, true);
    assertThat(ids(poll.range())).as("another key runs on").containsExactly(3L);
    assertThat(poll.deferred()).isEqualTo(1);
    assertThat(queue()).containsExactly("2|deferred");
    assertThat(stream.rows("SELECT low, high, excluded FROM {lease} ORDER BY low"))
        .containsExactly("0|1|null", "1|3|{2}");
    assertThat(second.claimDue(10)).isEmpty();
    assertThat(first.finish(held, "a")).isTrue();
    assertThat(queue()).containsExactly("2|ready");
    assertThat(second.claimDue(10)).containsExactly(2L);
    assertThat(stream.rows("SELECT message_id, status FROM {deliveries}"))
        .containsExactly("2|deferred");
  }

  @Test
  void aSessionKeepsTheOrderInItsOwnRangesItself() {
    register(Concurrency.ORDERED);
    produce("a", "a", "a");
    Session session = new Session();
    assertThat(ids(session.claim(1))).containsExactly(1L);
    assertThat(ids(session.claim(10))).containsExactly(2L, 3L);
    assertThat(queue()).isEmpty();
  }

  @Test
  void aMessageWaitsForOneThatComesAgain() {
    register(Concurrency.ORDERED);
    produce("a", "a");
    Session session = new Session();
    session.finish(session.claim(1), 1, "a", AGAIN);
    assertThat(session.claim(10)).as("all of it has to wait, so there is no lease").isNull();
    assertThat(queue()).containsExactly("1|ready", "2|deferred");
    assertThat(stream.rows("SELECT claimed, committed FROM {cursor}")).containsExactly("2|0");
    assertThat(session.claimDue(10)).as("the next comes with it").containsExactly(1L, 2L);
  }

  @Test
  void aDeadMessageLetsTheNextGoOn() {
    register(Concurrency.ORDERED);
    produce("a", "a");
    Session session = new Session();
    Session other = new Session();
    ClaimedRange held = session.claim(1);
    assertThat(other.claim(10)).isNull();
    session.finish(held, 1, "a", DEAD);
    assertThat(other.claimDue(10)).containsExactly(2L);
  }

  /** Held; claim waits for the lock; held is finished first; the claim sees that. */
  @Test
  void aClaimThatWaitedForAFinishSeesIt() throws Exception {
    register(Concurrency.ORDERED);
    produce("a", "a");
    Session first = new Session();
    Session second = new Session();
    ClaimedRange held = first.claim(1);
    CompletableFuture<Poll> waiting;
    try (NamedTransaction lock = stream.begin("in between")) {
      lock.runs("SELECT claimed FROM {cursor} FOR UPDATE");
      CompletableFuture<Boolean> finish =
          CompletableFuture.supplyAsync(() -> first.finish(held, "a"));
      stream.awaitWaiting("cursor");
      waiting = CompletableFuture.supplyAsync(() -> second.poll(10, true));
      lock.commits();
      assertThat(finish.get()).isTrue();
    }
    Poll poll = waiting.get();
    // whoever of the two got the lock first, nobody waits for a turn that was announced already
    if (poll.range() == null) {
      assertThat(queue()).containsExactly("2|ready");
    } else {
      assertThat(ids(poll.range())).containsExactly(2L);
      assertThat(queue()).isEmpty();
    }
  }

  @Test
  void whatWasDeferredIsNoPartOfItsRangeAnyMore() {
    register(Concurrency.ORDERED);
    produce("a", "a", "b");
    Session first = new Session();
    Session second = new Session();
    ClaimedRange held = first.claim(1);
    assertThat(ids(second.claim(10))).containsExactly(3L);
    first.finish(held, "a");
    List<ClaimedException> due = first.exceptions.claimDue(10, false, true);
    assertThat(first.finishDue(due.get(0).token(), Verdict.DONE, 2L)).containsExactly(2L);
    assertThat(queue()).isEmpty();
    expire();
    Reclaim reclaim = new Session().reclaim();
    assertThat(ids(reclaim.range())).as("2 is done").containsExactly(3L);
  }

  @Test
  void rangesOfADeadSessionComeAgainInOrderWhoeverTakesThem() {
    register(Concurrency.ORDERED);
    produce("a", "a", "b");
    Session dead = new Session();
    dead.claim(1);
    dead.claim(10);
    expire();
    Session second = new Session();
    Session third = new Session();
    ClaimedRange first = second.reclaim().range();
    assertThat(ids(first)).containsExactly(1L);
    Reclaim later = third.reclaim();
    assertThat(ids(later.range())).containsExactly(3L);
    assertThat(later.deferred()).isEqualTo(1);
    second.finish(first, "a");
    assertThat(third.claimDue(10)).containsExactly(2L);
  }

  @Test
  void aRangeOfWhichAllMustWaitIsDissolved() {
    register(Concurrency.ORDERED);
    produce("a", "a");
    Session dead = new Session();
    dead.claim(1);
    dead.claim(10);
    expire();
    new Session().reclaim();
    Reclaim later = new Session().reclaim();
    assertThat(later.found()).isTrue();
    assertThat(later.range()).isNull();
    assertThat(later.quarantined()).isZero();
    assertThat(stream.number("SELECT count(*) FROM {lease}")).isEqualTo(1);
    assertThat(queue()).containsExactly("2|deferred");
  }

  /** Dead; later one taken; redriven; due; the later one ends. */
  @Test
  void aRedrivenMessageNeverRunsBesideALaterOne() {
    register(Concurrency.ORDERED);
    produce("a", "a");
    Session first = new Session();
    Session second = new Session();
    first.finish(first.claim(1), 1, "a", DEAD);
    ClaimedRange later = second.claim(10);
    assertThat(ids(later)).containsExactly(2L);
    try (SqlStreams client = TestStream.client(database)) {
      client.stream(stream.name())
          .group("g")
          .exceptions()
          .redrive(io.sqlstreams.config.ExceptionFilter.all(), 10);
    }
    assertThat(first.claimDue(10)).isEmpty();
    assertThat(queue()).containsExactly("1|deferred");
    second.finish(later, "a");
    assertThat(first.claimDue(10)).containsExactly(1L);
  }

  @Test
  void messagesThatAskForAnOrderAreTakenUnderTheLockAlone() {
    register(Concurrency.PARALLEL);
    produce("a");
    stream.execute(
        "INSERT INTO {log} (schema_version, message_key, payload, options)"
            + " VALUES (1, 'a', '{}', '{\"concurrency\": \"ordered\"}'), (1, 'b', '{}', NULL)");
    Session session = new Session();
    Poll without = session.poll(10, false);
    assertThat(ids(without.range())).containsExactly(1L);
    assertThat(without.needsLock()).isTrue();
    Poll with = new Session().poll(10, true);
    assertThat(with.needsLock()).isFalse();
    assertThat(ids(with.range())).as("2 waits for 1").containsExactly(3L);
    assertThat(queue()).containsExactly("2|deferred");
  }

  @ParameterizedTest
  @CsvSource({
    "PARALLEL,            , parallel",
    "ORDERED,             , ordered",
    "EXCLUSIVE,           , exclusive",
    "ORDERED, 'parallel'  , parallel",
    "PARALLEL, 'exclusive', exclusive",
    "PARALLEL, 'nonsense' , parallel",
  })
  void aMessagesWishGoesBeforeTheGroupsDefault(Concurrency group, String wish, String expected) {
    register(group);
    produceAsking(wish);
    assertThat(new Session().claim(1).messages().get(0).concurrency().sqlName())
        .isEqualTo(expected);
  }

  @Test
  void theGroupsOverrideGoesBeforeAMessagesWish() {
    register(Concurrency.PARALLEL);
    produceAsking("ordered");
    Session session = new Session();
    ClaimTerms terms =
        new ClaimTerms(
            Concurrency.ORDERED, Concurrency.EXCLUSIVE, DeliveryLogMode.ALL, List.of(), List.of());
    assertThat(session.claims.claim(1, ANY_BYTES, true, true, terms).range().messages())
        .extracting(ClaimedMessage::concurrency)
        .containsExactly(Concurrency.EXCLUSIVE);
  }

  @Test
  void aMessageWithoutAKeyOrACompactedOneHasNoPlaceInAnOrder() {
    register(Concurrency.ORDERED);
    stream.execute(
        "INSERT INTO {log} (schema_version, message_key, compaction_rank, payload)"
            + " VALUES (1, NULL, NULL, '{}'), (1, '', NULL, '{}'), (1, 'c', 0, '{}')");
    assertThat(new Session().claim(9).messages())
        .extracting(ClaimedMessage::concurrency)
        .containsExactly(Concurrency.PARALLEL, Concurrency.ORDERED, Concurrency.EXCLUSIVE);
  }

  private void produceAsking(String wish) {
    stream.execute(
        "INSERT INTO {log} (schema_version, message_key, payload, options) VALUES (1, 'a', '{}', "
            + (wish == null ? "NULL" : "'{\"concurrency\": \"" + wish + "\"}'")
            + ")");
  }

  @Test
  void whatWaitsBehindAMessageComesWithItAndGoesBackWithoutBlame() {
    register(Concurrency.ORDERED);
    produce("a", "a", "a", "a");
    Session session = new Session();
    session.finish(session.claim(1), 1, "a", AGAIN);
    session.claim(10);
    assertThat(session.claimDue(3))
        .as("no more than there is room for")
        .containsExactly(1L, 2L, 3L);
    stream.execute("UPDATE {queue} SET lease_expires_at = now() WHERE status = 'inflight'");
    assertThat(session.exceptions.expired(10, List.of()))
        .extracting(ExpiredAttempt::messageId, ExpiredAttempt::isFollower)
        .containsExactly(
            org.assertj.core.groups.Tuple.tuple(1L, false),
            org.assertj.core.groups.Tuple.tuple(2L, true),
            org.assertj.core.groups.Tuple.tuple(3L, true));
  }

  @Test
  void nothingIsTakenPastOneThatIsSuspected() {
    register(Concurrency.ORDERED);
    produce("a", "a", "a", "a");
    Session session = new Session();
    session.finish(session.claim(1), 1, "a", AGAIN);
    session.claim(10);
    stream.execute("UPDATE {queue} SET suspect = true WHERE message_id = 3");
    assertThat(session.claimDue(10)).containsExactly(1L, 2L);
  }

  /** Taken together; the lease of the first is lost; the results arrive. */
  @Test
  void ofMessagesThatFollowEachOtherNoneEndsBeforeAnEarlierOneThatWasLost() {
    register(Concurrency.ORDERED);
    produce("a", "a", "a");
    Session session = new Session();
    session.finish(session.claim(1), 1, "a", AGAIN);
    session.claim(10);
    UUID token = session.exceptions.claimDue(10, false, true).get(0).token();
    stream.execute(
        "UPDATE {queue} SET status = 'ready', lease_token = NULL, lease_expires_at = NULL WHERE message_id = 2");
    assertThat(session.finishDue(token, Verdict.DONE, 1L, 2L, 3L)).containsExactly(1L);
    assertThat(queue()).containsExactly("2|ready", "3|inflight");
  }

  /**
   * Taken together; the first fails, and is due while the second is held still; the second ends.
   */
  @Test
  void aRetryThatMetItsFollowerStillHeldIsNotLeftToWait() {
    register(Concurrency.ORDERED);
    produce("a", "a", "a");
    Session session = new Session();
    Session other = new Session();
    session.finish(session.claim(1), 1, "a", AGAIN);
    session.claim(10);
    UUID token = session.exceptions.claimDue(2, false, true).get(0).token();
    session.finishDue(token, AGAIN, 1L);
    assertThat(other.claimDue(10)).as("2 is held").isEmpty();
    assertThat(queue()).containsExactly("1|deferred", "2|inflight", "3|deferred");
    session.finishDue(token, DEFERRED, 2L);
    assertThat(other.claimDue(10)).as("2 is behind 1, and hands on its turn").isEmpty();
    assertThat(queue()).containsExactly("1|ready", "2|deferred", "3|deferred");
    assertThat(other.claimDue(10)).containsExactly(1L, 2L, 3L);
  }

  /** Taken together; their process dies; that was the last attempt of the first. */
  @Test
  void whatFollowedAMessageThatIsDeadByACrashIsNotLeftToWait() {
    register(Concurrency.ORDERED);
    produce("a", "a", "a");
    Session session = new Session();
    session.finish(session.claim(1), 1, "a", AGAIN);
    session.claim(10);
    UUID token = session.exceptions.claimDue(10, false, true).get(0).token();
    session.outcomes.finishExceptions(
        List.of(
            new FinishedMessage(1, "a", concurrency, token, DEAD),
            new FinishedMessage(2, "a", concurrency, token, DEFERRED),
            new FinishedMessage(3, "a", concurrency, token, DEFERRED)));
    assertThat(queue()).containsExactly("1|dead", "2|ready", "3|deferred");
    assertThat(session.claimDue(10)).containsExactly(2L, 3L);
  }

  @Test
  void anExclusiveMessageWaitsForARunningOneButNotForARetry() {
    register(Concurrency.EXCLUSIVE);
    produce("a", "a", "a");
    Session first = new Session();
    Session second = new Session();
    ClaimedRange held = first.claim(1);
    assertThat(second.claim(1)).isNull();
    assertThat(queue()).containsExactly("2|deferred");
    first.finish(
        held,
        1,
        "a",
        new Verdict(Verdict.Status.READY, Verdict.Event.FAILURE, 0, 1, 0, 60_000_000, "no"));
    assertThat(queue()).as("its key is free").containsExactly("1|ready", "2|ready");
    assertThat(second.claimDue(10)).containsExactly(2L);
    assertThat(first.claim(10)).as("2 runs").isNull();
  }

  @Test
  void ofExclusiveMessagesThatAreDueAtOnceOneIsTaken() {
    register(Concurrency.EXCLUSIVE);
    produce("a", "a", "b");
    Session session = new Session();
    ClaimedRange range = session.claim(10);
    session.outcomes.finish(
        List.of(
            new FinishedRange(
                range.token(),
                null,
                List.of(
                    new FinishedMessage(1, "a", concurrency, range.token(), AGAIN),
                    new FinishedMessage(2, "a", concurrency, range.token(), AGAIN),
                    new FinishedMessage(3, "b", concurrency, range.token(), AGAIN)),
                Set.of("a", "b"))));
    assertThat(session.exceptions.claimDue(10, false, false))
        .extracting(ClaimedException::messageId)
        .containsExactly(1L, 3L);
    assertThat(queue()).containsExactly("1|inflight", "2|deferred", "3|inflight");
  }

  @Test
  void aTurnThatNobodyAnnouncedIsFound() {
    register(Concurrency.ORDERED);
    produce("a", "a", "b", "b");
    Session first = new Session();
    Session second = new Session();
    ClaimedRange held = first.claim(1);
    second.claim(1);
    ClaimedRange open = first.claim(1);
    second.claim(1);
    assertThat(queue()).containsExactly("2|deferred", "4|deferred");
    assertThat(first.finish(held)).as("without a word").isTrue();
    assertThat(second.exceptions.wake(null)).isNull();
    assertThat(queue()).as("3 holds its key still").containsExactly("2|ready", "4|deferred");
    first.finish(open);
    second.exceptions.wake(null);
    assertThat(queue()).containsExactly("2|ready", "4|ready");
  }

  @Test
  void aCaughtUpGroupThatKeepsOrderIsOnlyLookedAt() {
    register(Concurrency.ORDERED);
    produce("a");
    Session session = new Session();
    session.finish(session.claim(10), "a");
    String before = stream.rows("SELECT xmin, xmax, ctid FROM {cursor}").get(0);
    assertThat(session.poll(10, true).isBehind()).isFalse();
    assertThat(stream.rows("SELECT xmin, xmax, ctid FROM {cursor}")).containsExactly(before);
  }

  private void produce(String... keys) {
    for (String key : keys) {
      stream.execute(
          "INSERT INTO {log} (schema_version, message_key, payload) VALUES (1, '"
              + key
              + "', '{}')");
    }
  }

  private void expire() {
    stream.execute("UPDATE {lease} SET expires_at = now() - INTERVAL '1 second'");
  }

  private List<String> queue() {
    return stream.rows("SELECT message_id, status FROM {queue} ORDER BY message_id");
  }

  private static List<Long> ids(ClaimedRange range) {
    return range == null
        ? List.of()
        : range.messages().stream().map(claimed -> claimed.message().id()).toList();
  }
}
