package io.sqlstreams.internal.operation;

import io.sqlstreams.internal.sql.Instants;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The messages of a log above an id up to another.
 *
 * @param low the id above which they are
 * @param high the id up to which they are
 * @param messages how many
 * @param first the first of them; null when there are none
 * @param last the last of them; null when there are none
 */
record Window(long low, long high, long messages, @Nullable Mark first, @Nullable Mark last) {

  /**
   * One of its messages.
   *
   * @param id its id
   * @param createdAt when it was produced
   */
  record Mark(long id, Instant createdAt) {}

  static Window read(long low, long high, ResultSet row) throws SQLException {
    return new Window(
        low,
        high,
        row.getLong("messages"),
        mark(row, "first_id", "first_at"),
        mark(row, "last_id", "last_at"));
  }

  /** This window with the one that follows right above it. */
  Window plus(Window next) {
    return new Window(
        low,
        next.high,
        messages + next.messages,
        first == null ? next.first : first,
        next.last == null ? last : next.last);
  }

  private static @Nullable Mark mark(ResultSet row, String id, String createdAt)
      throws SQLException {
    Instant at = Instants.orNull(row, createdAt);
    return at == null ? null : new Mark(row.getLong(id), at);
  }
}
