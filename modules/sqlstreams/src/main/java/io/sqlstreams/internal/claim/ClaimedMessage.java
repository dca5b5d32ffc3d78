package io.sqlstreams.internal.claim;

import io.sqlstreams.config.Concurrency;
import io.sqlstreams.internal.log.StoredMessage;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A message of a range.
 *
 * @param message as the log holds it
 * @param concurrency how it is handed out among those of its key
 */
public record ClaimedMessage(StoredMessage message, Concurrency concurrency) {
  /** Reads the current row; null when it holds no message. */
  static @Nullable ClaimedMessage read(ResultSet row) throws SQLException {
    StoredMessage message = StoredMessage.read(row);
    return message == null ? null : new ClaimedMessage(message, concurrency(row));
  }

  static Concurrency concurrency(ResultSet row) throws SQLException {
    return Concurrency.valueOf(row.getString("concurrency").toUpperCase(Locale.ROOT));
  }
}
