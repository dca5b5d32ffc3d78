package io.sqlstreams.internal.produce;

import io.sqlstreams.internal.sql.Call;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyIn;

/**
 * Writes many messages by COPY. It gives no ids back, so they are drawn first. Four round trips:
 * begin and draw, start the copy, the rows, end.
 */
final class CopyPath {
  private CopyPath() {}

  /** The ids of the messages, in their order. */
  static long[] write(
      Connection connection, TargetLog log, Bounds bounds, List<ReadyMessage> messages)
      throws SQLException {
    long[] ids = reserve(connection, log, bounds, messages.size());
    CopyIn copy = connection.unwrap(PGConnection.class).getCopyAPI().copyIn(log.copy());
    try {
      CopyEncoder encoder = new CopyEncoder(log.payloadType(), copy::writeToCopy);
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
      return ids;
    } finally {
      if (copy.isActive()) {
        copy.cancelCopy();
      }
    }
  }

  private static long[] reserve(Connection connection, TargetLog log, Bounds bounds, int count)
      throws SQLException {
    try (Call call = log.reserve(bounds).on(connection);
        ResultSet rows = call.set("count", count).query()) {
      return Ids.read(rows, count);
    }
  }
}
