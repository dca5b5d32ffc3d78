package io.sqlstreams.internal.upkeep;

import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * What a group loses by retention.
 *
 * @param group its name
 * @param messages how many that it had not read and nobody was at
 * @param inFlight how many that are being handled; their results are still taken
 * @param dead how many dead ones, which go with their messages
 * @param firstId the lowest id of all these; 0 when there are none
 * @param lastId the highest
 */
record Loss(String group, long messages, long inFlight, long dead, long firstId, long lastId) {
  static Loss read(String group, ResultSet row) throws SQLException {
    return new Loss(
        group,
        row.getLong("messages"),
        row.getLong("in_flight"),
        row.getLong("dead"),
        row.getLong("first_id"),
        row.getLong("last_id"));
  }

  boolean isUnread() {
    return messages + inFlight > 0;
  }
}
