package io.sqlstreams.internal.produce;

import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.error.SqlStreamsException;
import io.sqlstreams.internal.sql.SqlErrors;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/** What the server's refusal of a write means. */
final class Refusals {
  /**
   * The text isn't JSON, or can't be stored as jsonb: keys, versions and headers were checked
   * before.
   */
  private static final String BAD_VALUE = "22";

  /** It is nested too deeply, or has too many parts. */
  private static final String LIMIT_EXCEEDED = "54";

  private Refusals() {}

  /** What is being done, for messages. */
  static String what(String stream) {
    return "produce to stream \"" + stream + "\"";
  }

  /** The exception for a write that was refused. */
  static SqlStreamsException translate(String stream, String schema, SQLException e) {
    if (isBadPayload(e)) {
      return new InvalidInputException(
          "payload",
          "the database refuses it: " + SqlErrors.oneLine(e) + ": correct it",
          withoutValues(e));
    }
    boolean isBadData = SqlErrors.isBadData(e);
    return SqlErrors.translate(what(stream), schema, isBadData ? withoutValues(e) : e);
  }

  static boolean isBadPayload(SQLException e) {
    String state = SqlErrors.state(e);
    return state.startsWith(BAD_VALUE) || state.startsWith(LIMIT_EXCEEDED);
  }

  /**
   * Whether a row's id has no partition. A check's violation has the same code, but names the
   * check; the message's text isn't looked at, since the server may speak any language.
   */
  static boolean isMissingPartition(SQLException e, long streamId) {
    @Nullable ServerErrorMessage server =
        e instanceof PSQLException fromDriver ? fromDriver.getServerErrorMessage() : null;
    return server != null
        && SqlErrors.CHECK_VIOLATION.equals(server.getSQLState())
        && server.getConstraint() == null
        && ("message_log_" + streamId).equals(server.getTable());
  }

  /** The server's details quote the payload, so they don't go into a cause that someone may log. */
  private static SQLException withoutValues(SQLException e) {
    SQLException clean = new SQLException(SqlErrors.oneLine(e), e.getSQLState());
    clean.setStackTrace(e.getStackTrace());
    return clean;
  }
}
