package io.sqlstreams.internal.dispatch;

import io.sqlstreams.config.Concurrency;
import io.sqlstreams.internal.claim.ClaimedException;
import io.sqlstreams.internal.claim.ClaimedMessage;
import io.sqlstreams.internal.claim.ClaimedRange;
import io.sqlstreams.internal.log.StoredMessage;
import io.sqlstreams.internal.outcome.FinishedMessage;
import io.sqlstreams.internal.outcome.FinishedRange;
import io.sqlstreams.internal.outcome.FirstOfKeys;
import io.sqlstreams.internal.outcome.FreedKeys;
import io.sqlstreams.internal.outcome.Tries;
import io.sqlstreams.internal.outcome.Verdict;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
  private final Order order;
  private final Map<Work, List<Delivery>> earlier = new HashMap<>();
  private volatile boolean recordedAll;
  private volatile boolean alone;
  private volatile boolean lost;
  private volatile long heldUntil;

  /** Who sees to the order among the messages of a key. */
  enum Order {
    /** Nobody: none of its messages waits for another. */
    NONE,
    /** The database alone. */
    DATABASE,
    /** The database between processes, and this session among what it holds. */
    SESSION
  }

  private Work(
      UUID token,
      long low,
      boolean isRange,
      boolean suspect,
      int size,
      Order order,
      long heldUntil) {
    this.token = token;
    this.order = order;
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
  static Work of(ClaimedRange range, Order order, long heldUntil) {
    List<ClaimedMessage> messages = range.messages();
    Work work =
        new Work(range.token(), range.low(), true, false, messages.size(), order, heldUntil);
    for (ClaimedMessage claimed : messages) {
      StoredMessage message = claimed.message();
      work.add(
          message.id(), message.messageKey(), claimed.concurrency(), message, Tries.NONE, true);
    }
    return work;
  }

  /**
   * @param heldUntil see {@link #hold}
   */
  static Work of(ClaimedException exception, Order order, long heldUntil) {
    Work work =
        new Work(
            exception.token(),
            exception.messageId() - 1,
            false,
            exception.suspect(),
            1,
            order,
            heldUntil);
    work.add(
        exception.messageId(),
        exception.key(),
        exception.concurrency(),
        exception.message(),
        new Tries(exception.attempts(), exception.delays(), exception.forgiven()),
        exception.isVersionRead());
    return work;
  }

  private void add(
      long id,
      @Nullable String key,
      Concurrency concurrency,
      @Nullable StoredMessage message,
      Tries tries,
      boolean isOfTheGroup) {
    deliveries.add(
        new Delivery(this, deliveries.size(), id, key, concurrency, message, tries, isOfTheGroup));
  }

  Order order() {
    return order;
  }

  /**
   * This delivery follows one of the same key in an earlier range. Its result isn't recorded before
   * that range's are: else a crash would bring the earlier one again after the later was over.
   */
  synchronized void follow(Delivery delivery, Work range) {
    if (range != this) {
      earlier.computeIfAbsent(range, key -> new ArrayList<>()).add(delivery);
    }
  }

  /** Whether results have to wait for an earlier range; see {@link #follow}. */
  synchronized boolean mustWait() {
    earlier.keySet().removeIf(Work::isRecorded);
    return earlier.values().stream().flatMap(List::stream).anyMatch(this::isResolved);
  }

  /** Whether it doesn't count any more because an earlier range that it follows is lost. */
  synchronized boolean followsLost() {
    return earlier.keySet().stream().anyMatch(Work::isLost);
  }

  /**
   * The session is rid of it.
   *
   * @param held whether its results are in the database; if not, it was lost
   */
  synchronized void settle(boolean held) {
    if (held) {
      recordedAll = true;
    } else {
      lost = true;
    }
    earlier.clear();
  }

  private boolean isRecorded() {
    return recordedAll;
  }

  private boolean isResolved(Delivery delivery) {
    Verdict verdict = verdicts[delivery.index()];
    return verdict != null && verdict.isResolved();
  }

  /**
   * Whether an earlier message of its key in this work has ended and comes again, so that this one
   * has to wait.
   *
   * @param next deliveries that have ended after those that are recorded
   * @param given the verdicts on them
   */
  synchronized boolean isBehindUnresolved(
      Delivery delivery, List<Delivery> next, List<Verdict> given) {
    String key = delivery.key();
    if (key == null || delivery.concurrency() != Concurrency.ORDERED) {
      return false;
    }
    for (int i = 0; i < given.size(); i++) {
      if (key.equals(next.get(i).key()) && !given.get(i).isResolved()) {
        return true;
      }
    }
    return deliveries.subList(0, recorded).stream()
        .anyMatch(before -> key.equals(before.key()) && !isResolved(before));
  }

  UUID token() {
    return token;
  }

  /**
   * A range that was lost although its lease may be there still, since an earlier one that it
   * follows was: nothing of it counts, and nothing of it runs any more.
   */
  synchronized boolean isToGiveBack() {
    return lost && isRange && order == Order.SESSION && ended == verdicts.length;
  }

  /** All of it is to be handed out again. */
  FinishedRange unfinishedRange() {
    return new FinishedRange(token, low, List.of(), Set.of());
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
    if (!lost && (isOver() || followsOver())) {
      lost = true;
    }
    return !lost;
  }

  private boolean isOver() {
    return System.nanoTime() - heldUntil > 0;
  }

  /** An earlier range that was lost is handed out elsewhere, from its beginning. */
  private synchronized boolean followsOver() {
    return earlier.keySet().stream()
        .anyMatch(range -> !range.isRecorded() && (range.isLost() || range.isOver()));
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
    if (mustWait()) {
      return low;
    }
    while (donePrefix < verdicts.length && leavesNothing(donePrefix)) {
      donePrefix++;
    }
    return donePrefix == 0 ? low : deliveries.get(donePrefix - 1).id();
  }

  /** The verdicts that {@link #finishedRange()} speaks of. */
  synchronized List<Verdict> verdicts() {
    List<Verdict> given = new ArrayList<>(ended);
    for (int i = recorded; i < verdicts.length; i++) {
      if (verdicts[i] != null) {
        given.add(verdicts[i]);
      } else if (order != Order.SESSION) {
        break;
      }
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
    if (order == Order.SESSION) {
      return rangeInOrder();
    }
    int end = recorded;
    while (end < verdicts.length && verdicts[end] != null) {
      end++;
    }
    return finishedRange(
        deliveries.subList(recorded, end), Arrays.asList(verdicts).subList(recorded, end));
  }

  /**
   * The results of a range whose messages waited for each other, so what isn't begun is more than a
   * tail. What isn't begun before the last that has ended goes on in the exception queue; there it
   * is found out which comes first. What comes after that is the rest.
   */
  private FinishedRange rangeInOrder() {
    int end = verdicts.length;
    while (end > 0 && verdicts[end - 1] == null) {
      end--;
    }
    List<Verdict> given = new ArrayList<>();
    for (Delivery delivery : deliveries.subList(0, end)) {
      Verdict verdict = verdicts[delivery.index()];
      given.add(verdict == null ? Verdict.unbegun(delivery.tries()) : verdict);
    }
    return finishedRange(deliveries.subList(0, end), given);
  }

  /** The results of the next deliveries of a range, before they have ended here. */
  FinishedRange finishedRange(List<Delivery> next, List<Verdict> given) {
    List<FinishedMessage> results = new ArrayList<>();
    FreedKeys freed = new FreedKeys();
    FirstOfKeys first = new FirstOfKeys();
    int last = recorded - 1;
    for (int i = 0; i < given.size(); i++) {
      Delivery delivery = next.get(i);
      Verdict verdict = given.get(i);
      last = delivery.index();
      addResult(results, delivery, first.recorded(delivery.key(), delivery.concurrency(), verdict));
      if (order != Order.NONE) {
        freed.add(delivery.key(), delivery.concurrency(), verdict);
      }
    }
    @Nullable Long restLow =
        last == deliveries.size() - 1
            ? null
            : last < 0 ? Long.valueOf(low) : deliveries.get(last).id();
    return new FinishedRange(token, restLow, results, freed.keys());
  }

  /** The result of a message of the exception queue; one that wasn't begun goes back as it was. */
  synchronized FinishedMessage finishedException() {
    Delivery delivery = deliveries.get(0);
    Verdict verdict = verdicts[0];
    return finished(delivery, verdict == null ? Verdict.unbegun(delivery.tries()) : verdict);
  }

  /** The result of a delivery, before it has ended here. */
  FinishedMessage finished(Delivery delivery, Verdict verdict) {
    return new FinishedMessage(
        delivery.id(), delivery.key(), delivery.concurrency(), token, verdict);
  }

  /** Of what is done nothing is written, unless its history is. */
  private void addResult(List<FinishedMessage> results, Delivery delivery, Verdict verdict) {
    if (!verdict.isDone() || verdict.event() != null) {
      results.add(finished(delivery, verdict));
    }
  }

  private boolean leavesNothing(int index) {
    Verdict verdict = verdicts[index];
    return verdict != null && verdict.isDone() && verdict.event() == null;
  }
}
