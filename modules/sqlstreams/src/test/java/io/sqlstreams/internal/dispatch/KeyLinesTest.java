package io.sqlstreams.internal.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.config.Concurrency;
import io.sqlstreams.internal.claim.ClaimedException;
import io.sqlstreams.internal.claim.ClaimedMessage;
import io.sqlstreams.internal.claim.ClaimedRange;
import io.sqlstreams.internal.dispatch.KeyLines.Turn;
import io.sqlstreams.internal.log.StoredMessage;
import io.sqlstreams.internal.outcome.FinishedMessage;
import io.sqlstreams.internal.outcome.Verdict;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class KeyLinesTest {
  private static final long LONG = 60_000_000_000L;

  private final KeyLines lines = new KeyLines();
  private long lastId;

  @Test
  void orderedMessagesComeOneAfterTheOther() {
    Work work = claim("a", "b", "a", "a");
    assertThat(enter(work)).containsExactly(Turn.NOW, Turn.NOW, Turn.LATER, Turn.LATER);
    assertThat(done(work, 1).next()).isEmpty();
    assertThat(done(work, 0).next()).containsExactly(work.deliveries().get(2));
    assertThat(done(work, 2).next()).containsExactly(work.deliveries().get(3));
    assertThat(done(work, 3)).isEqualTo(new KeyLines.Change());
  }

  @Test
  void orderHoldsAcrossRanges() {
    Work first = claim("a");
    Work second = claim("a");
    assertThat(enter(first)).containsExactly(Turn.NOW);
    assertThat(enter(second)).containsExactly(Turn.LATER);
    assertThat(done(first, 0).next()).containsExactly(second.deliveries().get(0));
  }

  @Test
  void aLaterRangeIsNotRecordedBeforeAnEarlierOneOfTheSameKey() {
    Work first = claim("a", "b");
    Work second = claim("a");
    Work third = claim("c");
    enter(first);
    enter(second);
    enter(third);
    finish(first, 0, Verdict.DONE);
    finish(second, 0, Verdict.DONE);
    finish(third, 0, Verdict.DONE);
    assertThat(second.mustWait()).as("a crash would bring the first again").isTrue();
    assertThat(second.doneUpTo()).isLessThan(second.deliveries().get(0).id());
    assertThat(third.mustWait()).as("another key").isFalse();
    first.settle(true);
    assertThat(second.mustWait()).isFalse();
  }

  @Test
  void anOrderedMessageIsNotRecordedBeforeEarlierOnesOfItsKeyThatAreInNoOrder() {
    Work ordered = claim("a", "x");
    Work parallel = claim(Concurrency.PARALLEL, "a", "x");
    Work last = claim("a");
    enter(ordered);
    enter(parallel);
    enter(last);
    finish(ordered, 0, Verdict.DONE);
    finish(parallel, 0, Verdict.DONE);
    assertThat(parallel.mustWait()).as("it asks for no order").isFalse();
    finish(last, 0, Verdict.DONE);
    ordered.settle(true);
    assertThat(last.mustWait()).as("a crash would bring the second again").isTrue();
    parallel.settle(true);
    assertThat(last.mustWait()).isFalse();
  }

  @Test
  void ofARangeInOrderWhatComesAfterTheLastThatHasEndedIsTheRest() {
    Work work = claim("a", "b", "a", "b", "a");
    assertThat(work.finishedRange().restLow()).as("nothing was begun").isZero();
    assertThat(work.finishedRange().results()).isEmpty();
    enter(work);
    finish(work, 1, Verdict.DONE);
    finish(work, 3, Verdict.DONE);
    assertThat(work.finishedRange().restLow()).isEqualTo(4);
    assertThat(work.finishedRange().results())
        .extracting(FinishedMessage::id)
        .as("they go on in the exception queue")
        .containsExactly(1L, 3L);
  }

  /** Nothing of it runs any more, but its lease may be there still. */
  @Test
  void aRangeThatIsLostWithAnotherIsGivenBackWhenAllOfItHasEnded() {
    Work first = claim("a");
    Work second = claim("a", "b");
    enter(first);
    enter(second);
    first.lose();
    assertThat(second.mayBegin()).isFalse();
    finish(second, 1, Verdict.DONE);
    assertThat(second.isToGiveBack()).isFalse();
    finish(first, 0, Verdict.DONE);
    finish(second, 0, again());
    assertThat(second.isToGiveBack()).isTrue();
    assertThat(second.unfinishedRange().restLow()).isEqualTo(1);
    assertThat(second.unfinishedRange().results()).isEmpty();
  }

  @Test
  void aRangeThatFollowsALostOneIsLost() {
    Work first = claim("a");
    Work second = claim("a");
    enter(first);
    enter(second);
    first.lose();
    assertThat(second.mayBegin()).isFalse();
    assertThat(second.followsLost()).isTrue();
  }

  @Test
  void behindAMessageThatComesAgainNothingIsBegun() {
    Work work = claim("a", "a", "b", "a");
    enter(work);
    KeyLines.Change change = end(work, 0, again());
    assertThat(change.next()).isEmpty();
    assertThat(change.putAside())
        .containsExactly(work.deliveries().get(1), work.deliveries().get(3));
    Work later = claim("a", "b");
    assertThat(enter(later)).containsExactly(Turn.ELSEWHERE, Turn.LATER);
  }

  /**
   * A failed, its retry is due; B, put aside, is held by a range whose other messages run still.
   */
  @Test
  void aRetryDoesNotWaitForTheRangesOfThoseBehindIt() {
    Work first = claim("a");
    Work second = claim("a", "b");
    enter(first);
    enter(second);
    assertThat(end(first, 0, again()).putAside()).containsExactly(second.deliveries().get(0));
    lines.gone(first);
    lines.beginClaim();
    lines.endClaim();
    Work retry = exception(first.deliveries().get(0).id(), "a");
    assertThat(enter(retry)).containsExactly(Turn.NOW);
    assertThat(enter(claim("a"))).as("behind the second").containsExactly(Turn.ELSEWHERE);
  }

  /** A failed; claim sent; result of A recorded; claim arrives. It may not know of the failure. */
  @Test
  void aClaimThatWasUnderWayWhenAFailureWasRecordedStillWaits() {
    Work work = claim("a");
    enter(work);
    end(work, 0, again());
    lines.beginClaim();
    lines.gone(work);
    lines.endClaim();
    assertThat(enter(claim("a"))).containsExactly(Turn.ELSEWHERE);
  }

  @Test
  void aClaimThatBeganAfterwardsKnowsOfItFromTheDatabase() {
    Work work = claim("a");
    enter(work);
    end(work, 0, again());
    lines.gone(work);
    lines.beginClaim();
    lines.endClaim();
    assertThat(enter(claim("a"))).containsExactly(Turn.NOW);
  }

  @Test
  void exclusiveMessagesAreNeverTwoAtOnceButDoNotWaitForRetries() {
    Work work = claim(Concurrency.EXCLUSIVE, "a", "a", "a");
    assertThat(enter(work)).containsExactly(Turn.NOW, Turn.LATER, Turn.LATER);
    KeyLines.Change change = end(work, 0, again());
    assertThat(change.putAside()).isEmpty();
    assertThat(change.next()).containsExactly(work.deliveries().get(1));
  }

  @Test
  void anOrderedMessageWaitsForThoseOfItsKeyThatDoNot() {
    Work parallel = claim(Concurrency.PARALLEL, "a", "a");
    Work ordered = claim("a");
    assertThat(enter(parallel)).containsExactly(Turn.NOW, Turn.NOW);
    assertThat(enter(ordered)).containsExactly(Turn.LATER);
    assertThat(done(parallel, 1).next()).isEmpty();
    assertThat(done(parallel, 0).next()).containsExactly(ordered.deliveries().get(0));
  }

  @Test
  void whatIsLostLeavesItsLine() {
    Work first = claim("a", "a");
    Work second = claim(Concurrency.EXCLUSIVE, "a");
    enter(first);
    enter(second);
    KeyLines.Change change = lines.gone(first);
    assertThat(change.dropped()).containsExactly(first.deliveries().get(1));
    assertThat(change.next()).containsExactly(second.deliveries().get(0));
  }

  @Test
  void whatHasNoRoomWaitsElsewhere() {
    Work work = claim("a", "a");
    assertThat(lines.enter(work.deliveries().get(0), false)).isEqualTo(Turn.NOW);
    assertThat(lines.enter(work.deliveries().get(1), false)).isEqualTo(Turn.ELSEWHERE);
    assertThat(enter(claim("a"))).as("behind it").containsExactly(Turn.ELSEWHERE);
  }

  private static Verdict again() {
    return new Verdict(Verdict.Status.READY, Verdict.Event.FAILURE, 0, 1, 0, 0, "no");
  }

  private List<Turn> enter(Work work) {
    List<Turn> turns = new ArrayList<>();
    work.deliveries().forEach(delivery -> turns.add(lines.enter(delivery, true)));
    return turns;
  }

  private KeyLines.Change done(Work work, int index) {
    return end(work, index, Verdict.DONE);
  }

  private KeyLines.Change end(Work work, int index, Verdict verdict) {
    return lines.leave(work.deliveries().get(index), verdict);
  }

  private void finish(Work work, int index, Verdict verdict) {
    work.end(work.deliveries().get(index), verdict);
    end(work, index, verdict);
  }

  private static Work exception(long id, String key) {
    return Work.of(
        new ClaimedException(
            UUID.randomUUID(), id, key, Concurrency.ORDERED, 1, 0, 0, false, true, null, null),
        Work.Order.SESSION,
        System.nanoTime() + LONG);
  }

  private Work claim(String... keys) {
    return claim(Concurrency.ORDERED, keys);
  }

  private Work claim(Concurrency concurrency, String... keys) {
    long low = lastId;
    List<ClaimedMessage> messages = new ArrayList<>();
    for (String key : keys) {
      lastId++;
      messages.add(
          new ClaimedMessage(
              new StoredMessage(lastId, Instant.EPOCH, 1, null, key, new byte[1], null, null, null),
              concurrency));
    }
    return Work.of(
        new ClaimedRange(UUID.randomUUID(), low, lastId, messages),
        Work.Order.SESSION,
        System.nanoTime() + LONG);
  }
}
