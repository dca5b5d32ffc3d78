package io.sqlstreams.internal.produce;

import io.sqlstreams.internal.produce.LostCommit.Evidence;
import io.sqlstreams.internal.sql.SqlErrors;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Writes messages to a log, whole or not at all, in the way that suits their number and size. */
final class LogWriter {
  /**
   * From how many messages COPY is the faster way. Measured with 1,000-byte payloads without a
   * network between: it is from 10 on, and twice as fast from 200 on, where the 2 ms that it saves
   * pay for three more round trips as well.
   */
  static final int COPY_MESSAGES = 200;

  /**
   * Above how many bytes COPY is the faster way, for any number of messages: the server would hold
   * the arrays of an INSERT whole, and put them into a temporary file above its {@code work_mem}.
   */
  static final long COPY_BYTES = 1 << 20;

  /** PostgreSQL's driver says this before it sends anything on a connection that is closed. */
  private static final String CLOSED_BEFORE_SENDING = "08003";

  private LogWriter() {}

  /**
   * Writes these messages. When it fails, the bounds are still open, unless the connection is gone.
   * {@link #compare} belongs to it.
   *
   * @throws LostCommit when the connection broke while the library's own commit was under way
   */
  static Receipts write(
      Connection connection, TargetLog log, Bounds bounds, List<ReadyMessage> messages)
      throws SQLException {
    if (!usesCopy(messages)) {
      // the commit is on its way as soon as anything is
      return ending(log, bounds, null, () -> InsertPath.write(connection, log, bounds, messages));
    }
    Evidence evidence = CopyPath.write(connection, log, bounds, messages);
    return ending(
        log,
        bounds,
        evidence,
        () -> {
          bounds.end(connection);
          return evidence.receipts();
        });
  }

  /**
   * Compares duplicates with their originals, where the write itself hasn't. After the write's end:
   * in a transaction of the library's own the receipts would otherwise cost a round trip more for
   * every write with keys.
   *
   * @throws LostCommit when it fails after the library's own commit, so that nobody may take the
   *     failure for one of the write
   */
  static void compare(
      Connection connection,
      TargetLog log,
      Bounds bounds,
      List<ReadyMessage> messages,
      Receipts receipts)
      throws SQLException {
    if (usesCopy(messages)) {
      return;
    }
    if (!bounds.isTransaction()) {
      Originals.compare(connection, log.comparison(), messages, receipts);
      return;
    }
    try {
      Originals.compare(connection, log.comparisonAlone(), messages, receipts);
    } catch (SQLException e) {
      throw new LostCommit(log, null, e);
    }
  }

  static boolean usesCopy(List<ReadyMessage> messages) {
    return messages.size() >= COPY_MESSAGES
        || messages.stream().mapToLong(ReadyMessage::size).sum() > COPY_BYTES;
  }

  private interface Ending {
    Receipts run() throws SQLException;
  }

  private static Receipts ending(
      TargetLog log, Bounds bounds, @Nullable Evidence evidence, Ending ending)
      throws SQLException {
    try {
      return ending.run();
    } catch (SQLException e) {
      if (bounds.isTransaction()
          && SqlErrors.isConnectionLost(e)
          && !SqlErrors.state(e).equals(CLOSED_BEFORE_SENDING)) {
        throw new LostCommit(log, evidence, e);
      }
      throw e;
    }
  }
}
