package io.sqlstreams.internal.dispatch;

import io.sqlstreams.internal.claim.ClaimedException;
import io.sqlstreams.internal.claim.ClaimedRange;
import io.sqlstreams.internal.log.StoredMessage;
import io.sqlstreams.internal.outcome.FinishedMessage;
import io.sqlstreams.internal.outcome.FinishedRange;
import io.sqlstreams.internal.outcome.Tries;
import io.sqlstreams.internal.outcome.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What is held under one lease and completed at once: a range of the log, or one message of the
 * exception queue. Messages are begun in id order, so what isn't begun is always a tail.
 * Thread-safe.
 */
final class Work {
  private final UUID token;
  private final long low;
  private final boolean isRange;
  private final boolean suspect;
  private final List<Delivery> deliveries;
  private final @Nullable Verdict[] verdicts;
  private int ended;
  private int donePrefix;
  private int recorded;
  private volatile boolean alone;
  private volatile boolean lost;
  private volatile long heldUntil;

  private Work(UUID token, long low, boolean isRange, boolean suspect, int size, long heldUntil) {
    this.token = token;
    this.low = low;
    this.isRange = isRange;
    this.suspect = suspect;
    this.heldUntil = heldUntil;
    this.deliveries = new ArrayList<>(size);
    this.verdicts = new Verdict[size];
  }

  /**
   * @param heldUntil see {@link #hold}
   */
  static Work of(ClaimedRange range, long heldUntil) {
    List<StoredMessage> messages = range.messages();
    Work work = new Work(range.token(), range.low(), true, false, messages.size(), heldUntil);
    for (StoredMessage message : messages) {
      work.add(message.id(), message, Tries.NONE, true);
    }
    return work;
  }

  /**
   * @param heldUntil see {@link #hold}
   */
  static Work of(ClaimedException exception, long heldUntil) {
    Work work =
        new Work(
            exception.token(), exception.messageId() - 1, false, exception.suspect(), 1, heldUntil);
    work.add(
        exception.messageId(),
        exception.message(),
        new Tries(exception.attempts(), exception.delays(), exception.forgiven()),
        exception.isVersionRead());
    return work;
  }

  private void add(long id, @Nullable StoredMessage message, Tries tries, boolean isOfTheGroup) {
    deliveries.add(new Delivery(this, deliveries.size(), id, message, tries, isOfTheGroup));
  }

  UUID token() {
    return token;
  }

  /** Whether it is a range of the log, and not a message of the exception queue. */
  boolean isRange() {
    return isRange;
  }

  /** Whether it may have ended a process. */
  boolean isSuspect() {
    return suspect;
  }

  List<Delivery> deliveries() {
    return deliveries;
  }

  /** From now on each of its messages has a transaction of its own. */
  void separate() {
    alone = true;
  }

  /** See {@link #separate}. */
  boolean isSeparate() {
    return alone;
  }

  /** The lease is gone: results don't count any more. */
  void lose() {
    lost = true;
  }

  boolean isLost() {
    return lost;
  }

  /**
   * Its lease was renewed.
   *
   * @param until by {@link System#nanoTime}, the end of the lease counted from before the renewal
   *     was sent. It decides nothing but whether this process still begins something
   */
  void hold(long until) {
    heldUntil = until;
  }

  /**
   * Whether its messages may be begun: the lease isn't lost, and not so old that somebody else may
   * have taken over.
   */
  boolean mayBegin() {
    if (!lost && System.nanoTime() - heldUntil > 0) {
      lost = true;
    }
    return !lost;
  }

  /**
   * A delivery has ended.
   *
   * @return whether it was the last
   */
  synchronized boolean end(Delivery delivery, Verdict verdict) {
    if (verdicts[delivery.index()] != null) {
      throw new IllegalStateException("message " + delivery.id() + " has ended twice");
    }
    verdicts[delivery.index()] = verdict;
    delivery.release();
    ended++;
    return ended == verdicts.length;
  }

  /** Whether every delivery has ended. */
  synchronized boolean hasEnded() {
    return ended == verdicts.length;
  }

  /**
   * The id up to which everything is done and nothing is to be written. It stops below the first
   * failure, and below the first message whose history is kept: they aren't recorded yet, and a
   * crash must not lose that.
   */
  synchronized long doneUpTo() {
    while (donePrefix < verdicts.length && leavesNothing(donePrefix)) {
      donePrefix++;
    }
    return donePrefix == 0 ? low : deliveries.get(donePrefix - 1).id();
  }

  /** The verdicts on what has ended and isn't recorded, up to the first that hasn't ended. */
  synchronized List<Verdict> verdicts() {
    List<Verdict> given = new ArrayList<>(ended);
    for (int i = recorded; i < verdicts.length && verdicts[i] != null; i++) {
      given.add(verdicts[i]);
    }
    return given;
  }

  /**
   * These deliveries have ended, and the database has it already. They are the next ones in the
   * order of the work.
   *
   * @return whether they were the last
   */
  synchronized boolean endRecorded(List<Delivery> next, List<Verdict> given) {
    boolean last = false;
    for (int i = 0; i < given.size(); i++) {
      last = end(next.get(i), given.get(i));
    }
    recorded = next.get(given.size() - 1).index() + 1;
    return last;
  }

  /**
   * The results of a range: of all of it, or of what comes before the first that hasn't ended, and
   * where the rest begins. What has ended above that is done again rather than lose that one.
   */
  synchronized FinishedRange finishedRange() {
    List<FinishedMessage> results = new ArrayList<>();
    int end = recorded;
    while (end < verdicts.length && verdicts[end] != null) {
      addResult(results, deliveries.get(end), verdicts[end]);
      end++;
    }
    long restLow = end == 0 ? low : deliveries.get(end - 1).id();
    return new FinishedRange(token, end == verdicts.length ? null : restLow, results);
  }

  /** The results of the next deliveries of a range, before they have ended here. */
  FinishedRange finishedRange(List<Delivery> next, List<Verdict> given) {
    List<FinishedMessage> results = new ArrayList<>();
    for (int i = 0; i < given.size(); i++) {
      addResult(results, next.get(i), given.get(i));
    }
    Delivery last = next.get(given.size() - 1);
    return new FinishedRange(
        token, last.index() == deliveries.size() - 1 ? null : last.id(), results);
  }

  /** The result of a message of the exception queue; one that wasn't begun goes back as it was. */
  synchronized FinishedMessage finishedException() {
    Delivery delivery = deliveries.get(0);
    Verdict verdict = verdicts[0];
    return finished(delivery, verdict == null ? Verdict.unbegun(delivery.tries()) : verdict);
  }

  /** The result of a delivery, before it has ended here. */
  FinishedMessage finished(Delivery delivery, Verdict verdict) {
    return new FinishedMessage(delivery.id(), delivery.key(), token, verdict);
  }

  /** Of what is done nothing is written, unless its history is. */
  private void addResult(
      List<FinishedMessage> results, Delivery delivery, @Nullable Verdict verdict) {
    if (verdict != null && (!verdict.isDone() || verdict.event() != null)) {
      results.add(finished(delivery, verdict));
    }
  }

  private boolean leavesNothing(int index) {
    Verdict verdict = verdicts[index];
    return verdict != null && verdict.isDone() && verdict.event() == null;
  }
}
