package io.sqlstreams.internal.upkeep;

import java.sql.ResultSet;
import java.sql.SQLException;

/** Where a group stands, and which set of what it reads is in force. */
record GroupStanding(long id, String name, long claimed, long committed, int filter) {
  static GroupStanding read(ResultSet row) throws SQLException {
    return new GroupStanding(
        row.getLong("group_id"),
        row.getString("name"),
        row.getLong("claimed"),
        row.getLong("committed"),
        row.getInt("filter"));
  }
}
