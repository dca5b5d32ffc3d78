package io.sqlstreams.internal.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sqlstreams.config.Concurrency;
import io.sqlstreams.internal.claim.ClaimedMessage;
import io.sqlstreams.internal.claim.ClaimedRange;
import io.sqlstreams.internal.log.StoredMessage;
import io.sqlstreams.internal.outcome.FinishedMessage;
import io.sqlstreams.internal.outcome.FinishedRange;
import io.sqlstreams.internal.outcome.Verdict;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class WorkTest {
  private static final Verdict FAILED =
      new Verdict(Verdict.Status.READY, Verdict.Event.FAILURE, 0, 1, 0, 5, "no");

  private final Work work = range(3, 5, 9);

  @Test
  void onlyTheLastResultEndsIt() {
    assertThat(end(0, Verdict.DONE)).isFalse();
    assertThat(end(2, Verdict.DONE)).isFalse();
    assertThat(end(1, FAILED)).isTrue();
    assertThatThrownBy(() -> end(1, FAILED)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void doneUpToStopsInFrontOfWhatIsOpenOrFailed() {
    assertThat(work.doneUpTo()).isEqualTo(2);
    end(1, Verdict.DONE);
    assertThat(work.doneUpTo()).isEqualTo(2);
    end(0, Verdict.DONE);
    assertThat(work.doneUpTo()).isEqualTo(5);
    end(2, FAILED);
    assertThat(work.doneUpTo()).as("its row isn't written yet").isEqualTo(5);
  }

  @Test
  void aRangeThatIsDoneHasNoRestAndItsFailures() {
    end(0, Verdict.DONE);
    end(1, FAILED);
    end(2, Verdict.DONE);
    assertThat(work.finishedRange().restLow()).isNull();
    assertThat(work.finishedRange().results()).extracting(FinishedMessage::id).containsExactly(5L);
    assertThat(work.finishedRange().results())
        .extracting(FinishedMessage::key)
        .containsExactly("k5");
  }

  @Test
  void whatWasNotBegunIsTheRest() {
    assertThat(work.finishedRange().restLow()).as("nothing was begun").isEqualTo(2);
    end(0, FAILED);
    end(1, Verdict.DONE);
    assertThat(work.finishedRange().restLow()).isEqualTo(5);
    assertThat(work.finishedRange().results()).hasSize(1);
  }

  @Test
  void oneThatHasNotEndedIsPartOfTheRestWhateverHasEndedAboveIt() {
    end(0, FAILED);
    end(2, FAILED);
    assertThat(work.finishedRange().restLow()).isEqualTo(3);
    assertThat(work.finishedRange().results()).extracting(FinishedMessage::id).containsExactly(3L);
    assertThat(work.verdicts()).containsExactly(FAILED);
  }

  @Test
  void whatATransactionHasRecordedIsNotRecordedAgain() {
    List<Delivery> first = work.deliveries().subList(0, 2);
    FinishedRange inTransaction = work.finishedRange(first, List.of(FAILED, Verdict.DONE));
    assertThat(inTransaction.restLow()).isEqualTo(5);
    assertThat(inTransaction.results()).extracting(FinishedMessage::id).containsExactly(3L);
    assertThat(work.endRecorded(first, List.of(FAILED, Verdict.DONE))).isFalse();
    assertThat(work.finishedRange().restLow()).isEqualTo(5);
    assertThat(work.finishedRange().results()).isEmpty();
    assertThat(work.verdicts()).isEmpty();
    List<Delivery> last = work.deliveries().subList(2, 3);
    assertThat(work.finishedRange(last, List.of(Verdict.DONE)).restLow()).isNull();
    assertThat(work.endRecorded(last, List.of(Verdict.DONE))).isTrue();
  }

  @Test
  void payloadsAreLetGoWhenTheyHaveEnded() {
    end(1, Verdict.DONE);
    assertThat(work.deliveries().get(1).message()).isNull();
    assertThat(work.deliveries().get(0).message()).isNotNull();
  }

  @Test
  void nothingIsBegunUnderALeaseThatIsOver() {
    assertThat(work.mayBegin()).isTrue();
    work.hold(System.nanoTime() - 1);
    assertThat(work.mayBegin()).isFalse();
    assertThat(work.isLost()).isTrue();
    assertThat(work.deliveries().get(0).cancelled()).isTrue();
  }

  private boolean end(int index, Verdict verdict) {
    return work.end(work.deliveries().get(index), verdict);
  }

  private static Work range(long... ids) {
    List<ClaimedMessage> messages =
        LongStream.of(ids)
            .mapToObj(
                id ->
                    new StoredMessage(
                        id, Instant.EPOCH, 1, null, "k" + id, new byte[] {1}, null, null, null))
            .map(message -> new ClaimedMessage(message, Concurrency.PARALLEL))
            .toList();
    long end = ids[ids.length - 1];
    return Work.of(
        new ClaimedRange(UUID.randomUUID(), ids[0] - 1, end, messages),
        Work.Order.NONE,
        System.nanoTime() + 60_000_000_000L);
  }
}
