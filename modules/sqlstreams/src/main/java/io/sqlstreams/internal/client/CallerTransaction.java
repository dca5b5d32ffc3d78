package io.sqlstreams.internal.client;

import io.sqlstreams.TransactionWork;
import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.error.ErrorCode;
import io.sqlstreams.error.OutcomeUnknownException;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.SqlErrors;
import java.sql.Connection;
import java.sql.SQLException;
import org.postgresql.core.BaseConnection;
import org.postgresql.core.TransactionState;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A transaction whose work is the caller's: the isolation level is that of the connection, and what
 * the work throws comes out as it is. Thread-safe.
 */
final class CallerTransaction {
  private static final Logger LOG = LoggerFactory.getLogger(CallerTransaction.class);
  private static final String WHAT = "the transaction";

  private final Database database;
  private final String schema;
  private final Runnable afterCommit;

  /**
   * @param schema the installation's schema, for messages
   * @param afterCommit is called after each commit
   */
  CallerTransaction(Database database, String schema, Runnable afterCommit) {
    this.database = database;
    this.schema = schema;
    this.afterCommit = afterCommit;
  }

  <R, E extends Exception> R run(TransactionWork<R, E> work) throws E {
    Connection connection = database.lend();
    R result;
    try {
      result = onConnection(connection, work);
    } finally {
      database.giveBack(connection);
    }
    afterCommit.run();
    return result;
  }

  private <R, E extends Exception> R onConnection(Connection connection, TransactionWork<R, E> work)
      throws E {
    boolean autoCommit = begin(connection);
    R result;
    try {
      result = work.in(connection);
    } catch (Throwable e) {
      try {
        connection.rollback();
        connection.setAutoCommit(autoCommit);
      } catch (SQLException notRolledBack) {
        e.addSuppressed(notRolledBack); // closing the connection does it
      }
      throw e;
    }
    commit(connection);
    try {
      connection.setAutoCommit(autoCommit);
    } catch (SQLException e) {
      LOG.debug("the connection broke after the commit", e);
    }
    return result;
  }

  private boolean begin(Connection connection) {
    try {
      boolean autoCommit = connection.getAutoCommit();
      if (autoCommit) {
        connection.setAutoCommit(false);
      }
      return autoCommit;
    } catch (SQLException e) {
      throw SqlErrors.translate(WHAT, schema, e);
    }
  }

  private void commit(Connection connection) {
    try {
      requireSound(connection);
      connection.commit();
    } catch (SQLException e) {
      try {
        connection.rollback();
      } catch (SQLException notRolledBack) {
        e.addSuppressed(notRolledBack);
      }
      throw SqlErrors.isConnectionLost(e)
          ? new OutcomeUnknownException(WHAT, e)
          : SqlErrors.translate(WHAT, schema, e);
    }
  }

  /**
   * PostgreSQL answers the commit of a failed transaction with a rollback, and the driver says
   * nothing of it.
   */
  private static void requireSound(Connection connection) throws SQLException {
    if (connection.unwrap(BaseConnection.class).getTransactionState() == TransactionState.FAILED) {
      connection.rollback();
      throw new DatabaseException(
          ErrorCode.DATABASE_ERROR,
          WHAT
              + " was rolled back: one of its statements had failed and the work went on: let that exception out,"
              + " or roll back to a savepoint before it",
          "25P02",
          null);
    }
  }
}
