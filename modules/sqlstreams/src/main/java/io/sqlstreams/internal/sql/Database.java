package io.sqlstreams.internal.sql;

import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.error.ErrorCode;
import io.sqlstreams.error.OutcomeUnknownException;
import io.sqlstreams.error.SqlStreamsException;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The library's own work on connections of the user's {@link DataSource}: each is taken for one
 * piece of work, used at READ COMMITTED whatever the default of the pool or the server, and given
 * back as it came. Thread-safe.
 */
public final class Database {
  private static final Logger log = LoggerFactory.getLogger(Database.class);

  private final DataSource dataSource;
  private final String schema;
  private final Pooler pooler = new Pooler();

  /**
   * @param dataSource the user's
   * @param schema the installation's schema, for messages
   */
  public Database(DataSource dataSource, String schema) {
    this.dataSource = dataSource;
    this.schema = schema;
  }

  /** A connection in auto-commit mode that the caller keeps and closes. */
  public Connection open() {
    try {
      Connection connection = adapted();
      if (!connection.getAutoCommit()) {
        connection.setAutoCommit(true);
      }
      return connection;
    } catch (SQLException e) {
      throw SqlErrors.unreachable(e);
    }
  }

  /** A connection as the data source gives it; for work of callers. */
  public Connection lend() {
    try {
      return adapted();
    } catch (SQLException e) {
      throw SqlErrors.unreachable(e);
    }
  }

  /** A transaction at READ COMMITTED that the caller fills, commits and closes. */
  public OpenTransaction begin() {
    try {
      return OpenTransaction.begin(adapted(), pooler);
    } catch (SQLException e) {
      throw SqlErrors.unreachable(e);
    }
  }

  /** Closes a connection of {@link #open}, whatever state it is in. */
  public void release(Connection connection) {
    try (connection) {
      rollBackByStatement(connection);
      pooler.restore(connection);
    } catch (SQLException e) {
      log.debug("a broken connection could not be closed in order", e);
    }
  }

  /**
   * Works on a connection in auto-commit mode. For statements made by {@link
   * Template#asTransaction}, which are transactions by themselves, and for reads that any isolation
   * level serves.
   *
   * @param what what is being done, for messages
   */
  public <R> R autoCommitted(String what, SqlWork<R> work) {
    return withConnection(what, connection -> onAutoCommit(connection, true, work));
  }

  /**
   * Works in a transaction at READ COMMITTED and commits it.
   *
   * @param what what is being done, for messages
   * @throws OutcomeUnknownException when the connection breaks during the commit
   */
  public <R> R inTransaction(String what, SqlWork<R> work) {
    return withConnection(
        what, connection -> onAutoCommit(connection, false, c -> commit(what, c, work)));
  }

  /**
   * Works on a connection of a caller, who goes on with it: it stays as it is, its transaction
   * included.
   */
  public <R> R borrowing(Connection connection, SqlWork<R> work) throws SQLException {
    return pooler.around(connection, work);
  }

  /** What stands between this client and the server. */
  public Pooler pooler() {
    return pooler;
  }

  private Connection adapted() throws SQLException {
    Connection connection = dataSource.getConnection();
    try {
      pooler.adapt(connection);
      return connection;
    } catch (Throwable e) {
      connection.close();
      throw e;
    }
  }

  private <R> R withConnection(String what, SqlWork<R> work) {
    try {
      return onLent(work);
    } catch (SQLException e) {
      throw refusal(what, e);
    }
  }

  private <R> R onLent(SqlWork<R> work) throws SQLException {
    Connection connection = lend();
    try {
      return work.with(connection);
    } finally {
      giveBack(connection);
    }
  }

  /**
   * The exception for a statement that failed, whose connection was given back: it looks for the
   * privilege that this role lacks.
   *
   * @param what what was being done
   */
  public SqlStreamsException refusal(String what, SQLException e) {
    if (!SqlErrors.isPermissionDenied(e)) {
      return SqlErrors.translate(what, schema, e);
    }
    String refusal = SqlErrors.oneLine(e);
    String advice;
    try {
      advice =
          onLent(
              lent -> onAutoCommit(lent, true, c -> MissingPrivilege.describe(c, schema, refusal)));
    } catch (SQLException | SqlStreamsException unknown) {
      e.addSuppressed(unknown);
      advice = MissingPrivilege.GENERAL;
    }
    return new DatabaseException(
        ErrorCode.PERMISSION_DENIED, what + ": " + refusal + ": " + advice, SqlErrors.state(e), e);
  }

  /**
   * Gives back what {@link #lend} gave. The work is done or has failed by now; whether the
   * connection is given back in order doesn't change that.
   */
  public void giveBack(Connection connection) {
    try (connection) {
      pooler.restore(connection);
    } catch (SQLException e) {
      log.debug("a connection could not be given back in order", e);
    }
  }

  private static <R> R onAutoCommit(Connection connection, boolean wanted, SqlWork<R> work)
      throws SQLException {
    boolean found = connection.getAutoCommit();
    if (found != wanted) {
      connection.setAutoCommit(wanted);
    }
    R result;
    try {
      result = work.with(connection);
    } catch (Throwable e) {
      restoreAfter(e, connection, wanted, found);
      throw e;
    }
    if (found != wanted) {
      restore(connection, found);
    }
    return result;
  }

  /**
   * The work is committed by now, so a connection that breaks here must not make it look failed.
   */
  private static void restore(Connection connection, boolean autoCommit) {
    try {
      connection.setAutoCommit(autoCommit);
    } catch (SQLException e) {
      log.debug("a connection's auto-commit mode could not be restored", e);
    }
  }

  /**
   * Leaves no open transaction behind: a statement that is a transaction by itself may have stopped
   * halfway.
   */
  private static void restoreAfter(
      Throwable reason, Connection connection, boolean autoCommit, boolean found) {
    try {
      if (autoCommit) {
        rollBackByStatement(connection);
      } else {
        connection.rollback();
      }
      if (found != autoCommit) {
        connection.setAutoCommit(found);
      }
    } catch (SQLException e) {
      reason.addSuppressed(e);
    }
  }

  /** For auto-commit mode, in which {@link Connection#rollback} is refused. */
  public static void rollBackByStatement(Connection connection) throws SQLException {
    try (java.sql.Statement statement = connection.createStatement()) {
      statement.execute("ROLLBACK");
    }
  }

  private static <R> R commit(String what, Connection connection, SqlWork<R> work)
      throws SQLException {
    try (java.sql.Statement statement = connection.createStatement()) {
      statement.execute("SET TRANSACTION ISOLATION LEVEL READ COMMITTED");
    }
    R result = work.with(connection);
    try {
      connection.commit();
    } catch (SQLException e) {
      if (SqlErrors.isConnectionLost(e)) {
        throw new OutcomeUnknownException(what, e);
      }
      throw e;
    }
    return result;
  }
}
