package io.sqlstreams.internal.head;

import io.sqlstreams.internal.log.StoredMessage;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * The head of a key.
 *
 * @param id the id of its message
 * @param schemaVersion the version of that
 * @param rank the rank of that
 * @param message the message; null when the log holds it no more
 */
public record Head(long id, int schemaVersion, long rank, @Nullable StoredMessage message) {
  static Head read(ResultSet row) throws SQLException {
    return new Head(
        row.getLong("head_id"),
        row.getInt("head_schema_version"),
        row.getLong("head_rank"),
        StoredMessage.read(row));
  }
}
