package io.sqlstreams.config;

import java.util.Locale;

/**
 * What becomes of the planned times of a schedule that passed while nobody could produce, because
 * every process was down or cut from the database. A planned time is missed once it is more than
 * {@link ScheduleConfig#missedAfter} past; until then it is merely late, and its message is
 * produced whatever this says.
 */
public enum MissedRuns {
  /** They are dropped: the next message is that of the next planned time. */
  SKIP,
  /**
   * The newest of them is produced, unless a planned time after it is due as well; the others are
   * dropped. So after a break of whatever length the work is done once.
   */
  LATEST,
  /** Each of them is produced, the oldest first. */
  ALL;

  /** The name in tables and documents. */
  public String sqlName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
