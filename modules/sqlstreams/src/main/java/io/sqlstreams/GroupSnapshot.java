package io.sqlstreams;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where a consumer group stands. All of it is one snapshot of the database, so the numbers fit
 * together. Immutable.
 *
 * @param takenAt when it was taken, by the database's clock
 * @param head the newest message that is visible, or {@code claimed} when that is higher
 * @param claimed up to this id the group has taken or passed everything; 0 or above
 * @param committed up to this id nothing is open for the group: done, dead or passed. One message
 *     that waits long holds it, so it doesn't tell the lag. It moves with later claims, so it may
 *     stay behind what could be said
 * @param lag what the group would be given if nothing more were produced
 * @param openRanges how many claimed ranges aren't finished: their leases run, or have run out and
 *     wait for a process that takes them over; {@link GroupLag#open} tells how many messages are in
 *     them
 * @param exceptions the exception queue by state
 * @param oldestUnclaimed the first message above {@code claimed} that the group reads, since it was
 *     produced; null when there is none, or none among the first {@value #COUNT_LIMIT} messages
 * @param oldestUnresolved the message of the exception queue that is neither dead nor superseded
 *     and has the smallest id, since it came there; it holds {@code committed}; null when there is
 *     none
 * @param oldestDue the message of the exception queue that has waited for a process the longest
 *     since its time has come; what is delayed or waits for its retry doesn't count before that;
 *     null when there is none
 * @param blockers who holds the group up: while it stands at an id that isn't visible, the open
 *     transactions that may still bring it, the oldest first, {@value #MAX_BLOCKERS} at most; empty
 *     when it doesn't, or when nobody does and the next poll goes on. Short transactions of busy
 *     producers come and go here; one that grows old is to be looked at
 */
public record GroupSnapshot(
    Instant takenAt,
    long head,
    long claimed,
    long committed,
    GroupLag lag,
    int openRanges,
    ExceptionCounts exceptions,
    @Nullable OldestMessage oldestUnclaimed,
    @Nullable OldestMessage oldestUnresolved,
    @Nullable OldestMessage oldestDue,
    List<FenceBlocker> blockers) {
  /**
   * The most rows that are counted one by one; so a snapshot costs as much over a log or an
   * exception queue of any length.
   */
  public static final int COUNT_LIMIT = 10_000;

  /** The most blockers that are listed. */
  public static final int MAX_BLOCKERS = 20;

  public GroupSnapshot {
    blockers = List.copyOf(blockers);
  }

  /**
   * How long the group has owed the delivery that is most overdue: a message that nobody has
   * claimed, since it was produced, or one of the exception queue, since its time has come. Zero
   * when nothing is due, however long something is delayed. For alerts: it grows when the consumers
   * are down or too slow.
   */
  public Duration overdue() {
    Duration unclaimed = age(oldestUnclaimed);
    Duration due = age(oldestDue);
    return unclaimed.compareTo(due) > 0 ? unclaimed : due;
  }

  private Duration age(@Nullable OldestMessage oldest) {
    return oldest == null || oldest.since().isAfter(takenAt)
        ? Duration.ZERO
        : Duration.between(oldest.since(), takenAt);
  }
}
