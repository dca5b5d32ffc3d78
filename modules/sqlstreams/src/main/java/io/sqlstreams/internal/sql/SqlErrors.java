package io.sqlstreams.internal.sql;

import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.error.ErrorCode;
import io.sqlstreams.error.NotInstalledException;
import io.sqlstreams.error.SqlStreamsException;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/**
 * What the database's refusals mean to the caller. PostgreSQL's codes are those of appendix A of
 * its manual.
 */
public final class SqlErrors {
  /** No partition takes the row (check_violation). */
  public static final String CHECK_VIOLATION = "23514";

  /** A unique rule was broken. */
  public static final String UNIQUE_VIOLATION = "23505";

  private static final String UNDEFINED_TABLE = "42P01";
  private static final String UNDEFINED_SCHEMA = "3F000";
  private static final String INSUFFICIENT_PRIVILEGE = "42501";

  /** out_of_memory: in statements that touch many tables it is the table of locks that is full. */
  private static final String OUT_OF_LOCKS = "53200";

  private static final String READ_ONLY_TRANSACTION = "25006";

  private SqlErrors() {}

  /** The exception for a connection that could not be had. */
  public static SqlStreamsException unreachable(SQLException e) {
    return new DatabaseException(
        ErrorCode.DATABASE_UNREACHABLE,
        "no connection to the database: "
            + oneLine(e)
            + ": check its address, its credentials, and the size of the pool",
        e.getSQLState(),
        e);
  }

  /**
   * The exception for a statement that failed.
   *
   * @param what what was being done
   * @param schema the installation's schema
   */
  public static SqlStreamsException translate(String what, String schema, SQLException e) {
    String state = state(e);
    if (isConnectionLost(e)) {
      return new DatabaseException(
          ErrorCode.DATABASE_UNREACHABLE,
          what
              + ": the connection to the database was lost: "
              + oneLine(e)
              + ": try again once it is reachable",
          state,
          e);
    }
    if (state.equals(UNDEFINED_TABLE) || state.equals(UNDEFINED_SCHEMA)) {
      return new NotInstalledException(schema);
    }
    if (state.equals(INSUFFICIENT_PRIVILEGE)) {
      return new DatabaseException(
          ErrorCode.PERMISSION_DENIED,
          what + ": " + oneLine(e) + ": " + MissingPrivilege.GENERAL,
          state,
          e);
    }
    if (state.equals(READ_ONLY_TRANSACTION)) {
      return new DatabaseException(
          ErrorCode.DATABASE_ERROR,
          what + ": the transaction is read-only: use one that may write, on the primary server",
          state,
          e);
    }
    if (state.equals(OUT_OF_LOCKS)) {
      return new DatabaseException(
          ErrorCode.DATABASE_ERROR,
          what + ": " + oneLine(e) + ": raise the server's max_locks_per_transaction",
          state,
          e);
    }
    if (isContention(e)) {
      return new DatabaseException(
          ErrorCode.CONTENTION,
          what + ": the database gave way to another transaction: " + oneLine(e) + ": try again",
          state,
          e);
    }
    return new DatabaseException(ErrorCode.DATABASE_ERROR, what + ": " + oneLine(e), state, e);
  }

  /** Whether the connection is gone, so that what was under way may or may not have happened. */
  public static boolean isConnectionLost(SQLException e) {
    String state = state(e);
    // class 08: connection exceptions; 57P01 to 57P03: the server is being shut down or has crashed
    return state.startsWith("08")
        || state.equals("57P01")
        || state.equals("57P02")
        || state.equals("57P03");
  }

  /**
   * Whether another transaction was in the way: serialization failure, deadlock, or a lock that
   * took too long.
   */
  public static boolean isContention(SQLException e) {
    String state = state(e);
    return state.equals("40001") || state.equals("40P01") || state.equals("55P03");
  }

  /** Whether the statement was stopped from outside. */
  public static boolean isCancelled(SQLException e) {
    return state(e).equals("57014");
  }

  /** Whether a value was refused (class 22), or a rule of a table (class 23). */
  public static boolean isBadData(SQLException e) {
    String state = state(e);
    return state.startsWith("22") || state.startsWith("23");
  }

  /** Whether this role may not do it. */
  public static boolean isPermissionDenied(SQLException e) {
    return state(e).equals(INSUFFICIENT_PRIVILEGE);
  }

  /** Whether a table that was there is gone. */
  public static boolean isUndefinedTable(SQLException e) {
    return state(e).equals(UNDEFINED_TABLE);
  }

  /** PostgreSQL's five-character code; empty when the server said nothing. */
  public static String state(SQLException e) {
    @Nullable String state = e.getSQLState();
    return state == null ? "" : state;
  }

  /**
   * The first line of the message alone. The server's details can hold values of rows, so they stay
   * out.
   */
  public static String oneLine(SQLException e) {
    @Nullable ServerErrorMessage server =
        e instanceof PSQLException fromDriver ? fromDriver.getServerErrorMessage() : null;
    @Nullable String message = server == null ? e.getMessage() : server.getMessage();
    if (message == null) {
      return e.getClass().getSimpleName();
    }
    int end = message.indexOf('\n');
    String line = end < 0 ? message : message.substring(0, end);
    return line.endsWith(".") ? line.substring(0, line.length() - 1) : line;
  }
}
