package io.sqlstreams.internal.produce;

import java.sql.ResultSet;
import java.sql.SQLException;

/** The ids that a statement returned, in its rows' order. */
final class Ids {
  private final long[] ids;
  private int read;

  /**
   * @param count how many there must be
   */
  Ids(int count) {
    this.ids = new long[count];
  }

  /** Takes the current row. */
  void take(ResultSet row) throws SQLException {
    if (read < ids.length) {
      ids[read] = row.getLong("id");
    }
    read++;
  }

  /** All of them. */
  long[] all() {
    if (read != ids.length) {
      throw new IllegalStateException(
          ids.length
              + " messages were sent, but the log gave "
              + read
              + " ids: look for a trigger or a rule on it");
    }
    return ids;
  }
}
