package io.sqlstreams.internal.produce;

import java.sql.ResultSet;
import java.sql.SQLException;

/** The ids that a statement returned. */
final class Ids {
  private Ids() {}

  /** Exactly so many ids, in the rows' order. */
  static long[] read(ResultSet rows, int count) throws SQLException {
    long[] ids = new long[count];
    int read = 0;
    while (rows.next()) {
      if (read < count) {
        ids[read] = rows.getLong("id");
      }
      read++;
    }
    if (read != count) {
      throw new IllegalStateException(
          count
              + " messages were sent, but the log gave "
              + read
              + " ids: look for a trigger or a rule on it");
    }
    return ids;
  }
}
