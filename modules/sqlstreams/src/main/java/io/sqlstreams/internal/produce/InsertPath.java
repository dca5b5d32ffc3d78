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

  /** Writes them; with keys, duplicates aren't compared with their originals yet. */
  static Receipts write(
      Connection connection, TargetLog log, Bounds bounds, List<ReadyMessage> messages)
      throws SQLException {
    if (KeyedBatch.hasKeys(messages)) {
      return writeKeyed(connection, log, bounds, messages);
    }
    Ids ids = new Ids(messages.size());
    try (Call call = log.insert(bounds).on(connection)) {
      bind(call, messages);
      try (ResultSet row = call.query()) {
        while (row.next()) {
          ids.take(row);
        }
      }
    }
    return Receipts.written(ids.all());
  }

  private static Receipts writeKeyed(
      Connection connection, TargetLog log, Bounds bounds, List<ReadyMessage> messages)
      throws SQLException {
    KeyedBatch batch = new KeyedBatch(messages);
    try (Call call = log.insertKeyed(bounds).on(connection)) {
      bind(call, batch.sent());
      call.setArray("idempotency_keys", "uuid", batch.keys())
          .set("key_ttl_ns", log.stream().config().idempotencyKeyTtl().toNanos());
      try (ResultSet row = call.query()) {
        while (row.next()) {
          batch.take(row);
        }
      }
    }
    return batch.receipts();
  }

  private static void bind(Call call, List<ReadyMessage> messages) throws SQLException {
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
    call.setArray("schema_versions", "int4", schemaVersions)
        .setArray("routing_keys", "text", routingKeys)
        .setArray("message_keys", "text", messageKeys)
        .setArray("payloads", "bytea", payloads)
        .setArray("headers", "text", headers)
        .setArray("options", "text", options);
  }
}
