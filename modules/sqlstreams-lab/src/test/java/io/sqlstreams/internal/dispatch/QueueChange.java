package io.sqlstreams.internal.dispatch;

import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * A change of a row of the exception queue, written down by a trigger. Instants are microseconds of
 * the database's clock.
 *
 * @param status its new status; {@code gone} when it was deleted
 * @param attempts the number of its next attempt, or of the one that runs
 * @param delays how many of those before asked for a delay
 * @param suspect whether it may have ended a process
 * @param due when it may run
 * @param begun when the statement that changed it began
 * @param made when the change was there
 */
record QueueChange(
    String status, int attempts, int delays, boolean suspect, long due, long begun, long made) {
  /** What a change leaves behind, without its instants. */
  record State(String status, int attempts, int delays, boolean suspect) {}

  static QueueChange read(ResultSet row) throws SQLException {
    return new QueueChange(
        row.getString("status"),
        row.getInt("attempts"),
        row.getInt("delays"),
        row.getBoolean("suspect"),
        row.getLong("due"),
        row.getLong("begun"),
        row.getLong("made"));
  }

  State state() {
    return new State(status, attempts, delays, suspect);
  }
}
