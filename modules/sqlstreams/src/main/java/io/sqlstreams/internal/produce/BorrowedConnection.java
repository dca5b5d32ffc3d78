package io.sqlstreams.internal.produce;

import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.error.ErrorCode;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.internal.sql.SqlErrors;
import java.sql.Connection;
import java.sql.SQLException;
import org.postgresql.core.BaseConnection;
import org.postgresql.core.TransactionState;

/**
 * The caller's connection, and what state it is in. The driver knows the state from the server's
 * last answer, so looking costs no round trip, and a transaction that the caller began by a
 * statement in auto-commit mode is seen as well.
 */
final class BorrowedConnection {
  private static final String FAILED_TRANSACTION = "25P02";

  private final Connection connection;
  private final BaseConnection driver;

  private BorrowedConnection(Connection connection, BaseConnection driver) {
    this.connection = connection;
    this.driver = driver;
  }

  /**
   * The caller's connection, ready for a write.
   *
   * @param what what is to be done, for messages
   * @throws InvalidInputException when it is closed or isn't one of PostgreSQL's driver
   * @throws DatabaseException when its transaction can only be rolled back
   */
  static BorrowedConnection of(Connection connection, String what) {
    BaseConnection driver;
    try {
      if (connection.isClosed()) {
        throw new InvalidInputException("connection", "it is closed: give one that is open");
      }
      driver = connection.unwrap(BaseConnection.class);
    } catch (SQLException e) {
      throw new InvalidInputException(
          "connection",
          "it isn't one of PostgreSQL's JDBC driver, nor a wrapper that can unwrap one ("
              + connection.getClass().getName()
              + "): give a connection to this client's database",
          e);
    }
    if (driver.getTransactionState() == TransactionState.FAILED) {
      throw new DatabaseException(
          ErrorCode.DATABASE_ERROR,
          what
              + ": an earlier statement failed, so the transaction can only be rolled back, whole or to a savepoint:"
              + " do that first",
          FAILED_TRANSACTION,
          null);
    }
    return new BorrowedConnection(connection, driver);
  }

  /** What a write is bounded by: outside a transaction, it is one by itself. */
  Bounds bounds() {
    try {
      return connection.getAutoCommit() && driver.getTransactionState() == TransactionState.IDLE
          ? Bounds.TRANSACTION
          : Bounds.SAVEPOINT;
    } catch (SQLException e) {
      throw SqlErrors.unreachable(e);
    }
  }

  /** Leaves the caller's transaction as it was before the write that failed. */
  void undo(Bounds bounds, Throwable reason) {
    try {
      if (!driver.isClosed() && driver.getTransactionState() != TransactionState.IDLE) {
        bounds.undo(connection);
      }
    } catch (SQLException e) {
      reason.addSuppressed(e);
    }
  }
}
