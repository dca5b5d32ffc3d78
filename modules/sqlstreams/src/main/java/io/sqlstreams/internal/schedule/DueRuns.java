package io.sqlstreams.internal.schedule;

import io.sqlstreams.config.Cron;
import io.sqlstreams.config.MissedRuns;
import io.sqlstreams.config.ScheduleConfig;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * What becomes of the planned times of a schedule that have come.
 *
 * @param runs the planned times that get a message now, rising
 * @param next the planned time that comes after all that is settled by this
 * @param dropped whether planned times were passed that get none
 */
record DueRuns(List<Instant> runs, Instant next, boolean dropped) {
  /**
   * @param next the first planned time that isn't settled
   * @param now by the database's clock
   * @param most how many messages there can be at once; the rest stays due
   */
  static DueRuns of(Cron cron, ScheduleConfig config, Instant next, Instant now, int most) {
    Instant first = first(cron, config, next, now);
    List<Instant> runs = new ArrayList<>();
    Instant at = first;
    while (!at.isAfter(now) && runs.size() < most) {
      runs.add(at);
      at = cron.next(at);
    }
    return new DueRuns(List.copyOf(runs), at, first.isAfter(next));
  }

  /** The first planned time that gets a message, perhaps one to come. */
  private static Instant first(Cron cron, ScheduleConfig config, Instant next, Instant now) {
    Instant inTime = now.minus(config.missedAfter());
    if (!next.isBefore(inTime) || config.missedRuns() == MissedRuns.ALL) {
      return next;
    }
    Instant firstInTime = cron.next(inTime.minusNanos(1));
    return config.missedRuns() == MissedRuns.SKIP || !firstInTime.isAfter(now)
        ? firstInTime
        : last(cron, next, inTime);
  }

  /**
   * The last time before this moment, found by halves: between the two there may be years of
   * seconds.
   *
   * @param from a time before it
   */
  private static Instant last(Cron cron, Instant from, Instant before) {
    Instant found = from;
    Instant end = before;
    while (true) {
      Instant following = cron.next(found);
      if (!following.isBefore(end)) {
        return found;
      }
      Instant middle = found.plus(Duration.between(found, end).dividedBy(2));
      Instant later = cron.next(middle);
      if (later.isBefore(end)) {
        found = later;
      } else {
        end = middle.plusNanos(1); // the middle itself may be one
      }
    }
  }
}
