package io.sqlstreams.internal.log;

import io.sqlstreams.internal.sql.Instants;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A message as the log holds it.
 *
 * @param id its position
 * @param createdAt when it was produced
 * @param schemaVersion the version of its payload
 * @param routingKey its routing key
 * @param messageKey its message key
 * @param payload its bytes; null when it is a tombstone
 * @param headersJson its headers as they are stored
 * @param optionsJson what it asks of the groups, as it is stored
 * @param compactionRank its rank among the messages of its key; null when it isn't compacted
 */
@SuppressWarnings("ArrayRecordComponent") // never compared, and not copied on its way to the codec
public record StoredMessage(
    long id,
    Instant createdAt,
    int schemaVersion,
    @Nullable String routingKey,
    @Nullable String messageKey,
    byte @Nullable [] payload,
    @Nullable String headersJson,
    @Nullable String optionsJson,
    @Nullable Long compactionRank) {

  /** Reads the message columns of the current row; null when an outer join found none. */
  public static @Nullable StoredMessage read(ResultSet row) throws SQLException {
    long id = row.getLong("id");
    if (row.wasNull()) {
      return null;
    }
    return new StoredMessage(
        id,
        Instants.of(row, "created_at"),
        row.getInt("schema_version"),
        row.getString("routing_key"),
        row.getString("message_key"),
        row.getBytes("payload"),
        row.getString("headers"),
        row.getString("options"),
        row.getObject("compaction_rank", Long.class));
  }

  /** Whether it deletes its key: it has no payload on purpose. */
  public boolean isTombstone() {
    return payload == null && compactionRank != null;
  }

  /** How many bytes of payload it keeps in memory. */
  public int bytes() {
    return payload == null ? 0 : payload.length;
  }

  /** The headers, parsed. */
  public Map<String, String> headers() {
    return headersJson == null ? Map.of() : Headers.parse(headersJson);
  }
}
