package io.sqlstreams.internal.produce;

import io.sqlstreams.internal.produce.LostCommit.Evidence;
import io.sqlstreams.internal.sql.Call;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyIn;

/**
 * Writes many messages by COPY. It gives no ids back, so they are drawn first. Four round trips:
 * begin and draw, start the copy, the rows, end. Two fewer when there is nothing to write, one more
 * when there are duplicates to compare, and when messages are compacted (for {@value
 * Heads#KEYS_AT_ONCE} keys each).
 */
final class CopyPath {
  private CopyPath() {}

  /** All but the end; what the end makes true. */
  static Evidence write(
      Connection connection, TargetLog log, Bounds bounds, List<ReadyMessage> messages)
      throws SQLException {
    if (KeyedBatch.hasKeys(messages)) {
      return writeKeyed(connection, log, bounds, messages);
    }
    Ids ids = new Ids(messages.size());
    String transaction = "";
    try (Call call = log.reserve(bounds).on(connection);
        ResultSet row = call.set("count", messages.size()).query()) {
      while (row.next()) {
        ids.take(row);
        transaction = transaction.isEmpty() ? row.getString("transaction") : transaction;
      }
    }
    copy(connection, log, ids.all(), messages);
    return new Evidence(transaction, Receipts.written(ids.all()));
  }

  private static Evidence writeKeyed(
      Connection connection, TargetLog log, Bounds bounds, List<ReadyMessage> messages)
      throws SQLException {
    KeyedBatch batch = new KeyedBatch(messages);
    String transaction = "";
    try (Call call = log.reserveKeyed(bounds).on(connection)) {
      call.setArray("idempotency_keys", "uuid", batch.keys())
          .set("key_ttl_ns", log.stream().config().idempotencyKeyTtl().toNanos());
      try (ResultSet row = call.query()) {
        while (row.next()) {
          batch.take(row);
          transaction = transaction.isEmpty() ? row.getString("transaction") : transaction;
        }
      }
    }
    Receipts receipts = batch.receipts();
    List<ReadyMessage> unwritten = batch.unwritten();
    if (!unwritten.isEmpty()) {
      copy(connection, log, receipts.writtenIds(), unwritten);
    }
    Originals.compare(connection, log.comparison(), messages, receipts);
    return new Evidence(transaction, receipts);
  }

  private static void copy(
      Connection connection, TargetLog log, long[] ids, List<ReadyMessage> messages)
      throws SQLException {
    boolean compacted = Heads.areAmong(messages);
    CopyIn copy = connection.unwrap(PGConnection.class).getCopyAPI().copyIn(log.copy(compacted));
    try {
      CopyEncoder encoder = new CopyEncoder(log.payloadType(), compacted, copy::writeToCopy);
      for (int i = 0; i < ids.length; i++) {
        encoder.put(ids[i], messages.get(i));
      }
      encoder.finish();
      long written = copy.endCopy();
      if (written != ids.length) {
        throw new IllegalStateException(
            ids.length
                + " messages were sent, but "
                + written
                + " written: look for a trigger or a rule on the log");
      }
    } finally {
      if (copy.isActive()) {
        copy.cancelCopy();
      }
    }
    if (compacted) {
      Heads.take(connection, log, ids, messages);
    }
  }
}
