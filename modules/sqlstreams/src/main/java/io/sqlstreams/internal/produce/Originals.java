package io.sqlstreams.internal.produce;

import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Statement;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Compares the payloads of duplicates with those of their originals. */
final class Originals {
  private Originals() {}

  /**
   * Notes which duplicates have another payload than their originals; nothing to do without
   * duplicates. As many round trips as the payloads need that a write would send by COPY.
   *
   * @param comparison a statement of {@link TargetLog}
   */
  static void compare(
      Connection connection, Statement comparison, List<ReadyMessage> messages, Receipts receipts)
      throws SQLException {
    int[] places = receipts.duplicates();
    int from = 0;
    while (from < places.length) {
      int to = from + 1;
      long bytes = messages.get(places[from]).size();
      while (to < places.length
          && bytes + messages.get(places[to]).size() <= LogWriter.COPY_BYTES) {
        bytes += messages.get(places[to]).size();
        to++;
      }
      compare(connection, comparison, messages, receipts, Arrays.copyOfRange(places, from, to));
      from = to;
    }
  }

  private static void compare(
      Connection connection,
      Statement comparison,
      List<ReadyMessage> messages,
      Receipts receipts,
      int[] places)
      throws SQLException {
    long[] ids = new long[places.length];
    byte @Nullable [][] payloads = new byte @Nullable [places.length][];
    for (int i = 0; i < places.length; i++) {
      ids[i] = receipts.id(places[i]);
      payloads[i] = messages.get(places[i]).payload();
    }
    try (Call call = comparison.on(connection);
        ResultSet row =
            call.setArray("ids", "int8", ids).setArray("payloads", "bytea", payloads).query()) {
      while (row.next()) {
        boolean isOther = !row.getBoolean("same") && !row.wasNull();
        if (isOther) {
          receipts.setOtherPayload(places[row.getInt("place") - 1]);
        }
      }
    }
  }
}
