package io.sqlstreams.internal.dispatch;

import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * A row of the delivery log.
 *
 * @param attempt the attempt's number
 * @param event how it ended
 * @param error why
 */
record Delivered(int attempt, String event, @Nullable String error) {
  static Delivered read(ResultSet row) throws SQLException {
    return new Delivered(row.getInt("attempt"), row.getString("status"), row.getString("error"));
  }
}
