package io.sqlstreams.internal.produce;

import io.sqlstreams.error.OutcomeUnknownException;
import io.sqlstreams.internal.sql.SqlErrors;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

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
   *
   * @return their ids, in their order
   * @throws OutcomeUnknownException when the connection broke while the library's own commit was
   *     under way
   */
  static long[] write(
      Connection connection, TargetLog log, Bounds bounds, List<ReadyMessage> messages)
      throws SQLException {
    if (!usesCopy(messages)) {
      // the commit is on its way as soon as anything is
      return ending(log, bounds, () -> InsertPath.write(connection, log, bounds, messages));
    }
    long[] ids = CopyPath.write(connection, log, bounds, messages);
    return ending(
        log,
        bounds,
        () -> {
          bounds.end(connection);
          return ids;
        });
  }

  static boolean usesCopy(List<ReadyMessage> messages) {
    return messages.size() >= COPY_MESSAGES
        || messages.stream().mapToLong(ReadyMessage::size).sum() > COPY_BYTES;
  }

  private interface Ending {
    long[] run() throws SQLException;
  }

  private static long[] ending(TargetLog log, Bounds bounds, Ending ending) throws SQLException {
    try {
      return ending.run();
    } catch (SQLException e) {
      if (bounds == Bounds.TRANSACTION
          && SqlErrors.isConnectionLost(e)
          && !SqlErrors.state(e).equals(CLOSED_BEFORE_SENDING)) {
        throw new OutcomeUnknownException(Refusals.what(log.stream().name()), e);
      }
      throw e;
    }
  }
}
