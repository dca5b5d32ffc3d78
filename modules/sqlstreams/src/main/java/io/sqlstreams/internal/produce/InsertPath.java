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
    boolean compacted = Heads.areAmong(messages);
    try (Call call = log.insert(bounds, compacted).on(connection)) {
      bind(call, messages, compacted);
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
    boolean compacted = Heads.areAmong(messages);
    try (Call call = log.insertKeyed(bounds, compacted).on(connection)) {
      bind(call, batch.sent(), compacted);
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

  private static void bind(Call call, List<ReadyMessage> messages, boolean compacted)
      throws SQLException {
    int count = messages.size();
    int[] schemaVersions = new int[count];
    @Nullable String[] routingKeys = new @Nullable String[count];
    @Nullable String[] messageKeys = new @Nullable String[count];
    byte @Nullable [][] payloads = new byte @Nullable [count][];
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
    if (compacted) {
      call.setArray(
          "compaction_ranks",
          "int8",
          messages.stream().map(ReadyMessage::compactionRank).toArray(Long[]::new));
    }
  }
}
