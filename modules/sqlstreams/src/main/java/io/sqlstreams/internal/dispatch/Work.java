package io.sqlstreams.internal.dispatch;

import io.sqlstreams.internal.claim.ClaimedException;
import io.sqlstreams.internal.claim.ClaimedRange;
import io.sqlstreams.internal.log.StoredMessage;
import io.sqlstreams.internal.outcome.FinishedMessage;
import io.sqlstreams.internal.outcome.FinishedRange;
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
      work.add(message.id(), message, 0, 0);
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
    work.add(exception.messageId(), exception.message(), exception.attempts(), exception.delays());
    return work;
  }

  private void add(long id, @Nullable StoredMessage message, int attempt, int delays) {
    deliveries.add(new Delivery(this, deliveries.size(), id, message, attempt, delays));
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
   * The id up to which everything is done. It stops below the first failure, which isn't recorded
   * yet.
   */
  synchronized long doneUpTo() {
    while (donePrefix < verdicts.length && isDone(donePrefix)) {
      donePrefix++;
    }
    return donePrefix == 0 ? low : deliveries.get(donePrefix - 1).id();
  }

  /** The verdicts on what has ended. */
  synchronized List<Verdict> verdicts() {
    List<Verdict> given = new ArrayList<>(ended);
    for (Verdict verdict : verdicts) {
      if (verdict != null) {
        given.add(verdict);
      }
    }
    return given;
  }

  /** The results of a range: of all of it, or of what was begun, and where the rest begins. */
  synchronized FinishedRange finishedRange() {
    List<FinishedMessage> failures = new ArrayList<>();
    for (Delivery delivery : deliveries) {
      Verdict verdict = verdicts[delivery.index()];
      if (verdict != null && !verdict.isDone()) {
        failures.add(finished(delivery, verdict));
      }
    }
    return new FinishedRange(token, ended == verdicts.length ? null : restLow(), failures);
  }

  /** The result of a message of the exception queue; one that wasn't begun goes back as it was. */
  synchronized FinishedMessage finishedException() {
    Delivery delivery = deliveries.get(0);
    Verdict verdict = verdicts[0];
    return finished(
        delivery,
        verdict == null ? Verdict.unbegun(delivery.attempt(), delivery.delays()) : verdict);
  }

  private long restLow() {
    for (int i = verdicts.length - 1; i >= 0; i--) {
      if (verdicts[i] != null) {
        return deliveries.get(i).id();
      }
    }
    return low;
  }

  private FinishedMessage finished(Delivery delivery, Verdict verdict) {
    return new FinishedMessage(delivery.id(), delivery.key(), token, verdict);
  }

  private boolean isDone(int index) {
    Verdict verdict = verdicts[index];
    return verdict != null && verdict.isDone();
  }
}
