package io.sqlstreams.internal.produce;

import io.sqlstreams.internal.sql.Call;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Writes a few messages by one statement in one round trip, its begin and end included. */
final class InsertPath {
  private InsertPath() {}

  /** The ids of the messages, in their order. */
  static long[] write(
      Connection connection, TargetLog log, Bounds bounds, List<ReadyMessage> messages)
      throws SQLException {
    int count = messages.size();
    int[] schemaVersions = new int[count];
    @Nullable String[] routingKeys = new @Nullable String[count];
    @Nullable String[] messageKeys = new @Nullable String[count];
    byte[][] payloads = new byte[count][];
    @Nullable String[] headers = new @Nullable String[count];
    @Nullable String[] options = new @Nullable String[count];
    for (int i = 0; i < count; i++) {
      ReadyMessage message = messages.get(i);
      schemaVersions[i] = message.schemaVersion();
      routingKeys[i] = message.routingKey();
      messageKeys[i] = message.messageKey();
      payloads[i] = message.payload();
      headers[i] = message.headers();
      options[i] = message.options();
    }
    try (Call call = log.insert(bounds).on(connection)) {
      call.setArray("schema_versions", "int4", schemaVersions)
          .setArray("routing_keys", "text", routingKeys)
          .setArray("message_keys", "text", messageKeys)
          .setArray("payloads", "bytea", payloads)
          .setArray("headers", "text", headers)
          .setArray("options", "text", options);
      try (ResultSet rows = call.query()) {
        return Ids.read(rows, count);
      }
    }
  }
}
