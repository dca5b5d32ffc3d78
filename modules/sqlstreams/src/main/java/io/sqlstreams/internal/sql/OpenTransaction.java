package io.sqlstreams.internal.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.postgresql.PGConnection;
import org.postgresql.core.BaseConnection;
import org.postgresql.core.TransactionState;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A transaction at READ COMMITTED on a connection of its own, which stays open while others work in
 * it. Belongs to one thread, but for {@link #cancel} and {@link #abort}.
 */
public final class OpenTransaction implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(OpenTransaction.class);

  private final Connection connection;
  private final boolean autoCommit;
  private final Pooler pooler;
  private final AtomicBoolean over = new AtomicBoolean();

  private OpenTransaction(Connection connection, boolean autoCommit, Pooler pooler) {
    this.connection = connection;
    this.autoCommit = autoCommit;
    this.pooler = pooler;
  }

  /** Begins on this connection, which is closed with the transaction. */
  static OpenTransaction begin(Connection connection, Pooler pooler) throws SQLException {
    try {
      boolean autoCommit = connection.getAutoCommit();
      if (autoCommit) {
        connection.setAutoCommit(false);
      }
      return new OpenTransaction(connection, autoCommit, pooler);
    } catch (SQLException e) {
      connection.close();
      throw e;
    }
  }

  public Connection connection() {
    return connection;
  }

  /** Runs commands without a result. */
  public void run(String commands) throws SQLException {
    try (java.sql.Statement statement = connection.createStatement()) {
      statement.execute(commands);
    }
  }

  /** Whether a statement has failed, so that only a roll-back is possible. No round trip. */
  public boolean hasFailed() throws SQLException {
    return state() == TransactionState.FAILED;
  }

  /** Whether somebody has ended it by a statement. No round trip. */
  public boolean isGone() throws SQLException {
    return state() == TransactionState.IDLE;
  }

  private TransactionState state() throws SQLException {
    return connection.unwrap(BaseConnection.class).getTransactionState();
  }

  /** Commits. Fails when it can't be committed, or when nobody knows whether it was. */
  public void commit() throws SQLException {
    connection.commit();
  }

  /**
   * Stops the statement that runs at the moment. From any thread; may block. Until it returns it
   * may stop any statement of the connection, so whoever calls it sees to it that it has returned
   * before the transaction is closed.
   */
  public void cancel() {
    if (!over.get()) {
      sendCancel();
    }
  }

  private void sendCancel() {
    try {
      connection.unwrap(PGConnection.class).cancelQuery();
    } catch (SQLException e) {
      log.debug("a statement could not be cancelled", e);
    }
  }

  /** Cuts the connection, whoever uses it; nothing of the transaction remains. From any thread. */
  public void abort() {
    if (over.compareAndSet(false, true)) {
      sendCancel();
      try (connection) {
        connection.abort(Runnable::run);
      } catch (SQLException e) {
        log.debug("a connection could not be cut in order", e);
      }
    }
  }

  /** Rolls back what isn't committed, and gives the connection back as it came. */
  @Override
  public void close() {
    if (over.compareAndSet(false, true)) {
      try (connection) {
        restoreOrAbort();
      } catch (SQLException e) {
        log.debug("a connection could not be given back in order", e);
      }
    }
  }

  /** One that can't be rolled back, such as in the middle of a COPY, is of no use to a pool. */
  private void restoreOrAbort() throws SQLException {
    try {
      if (state() != TransactionState.IDLE) {
        connection.rollback();
      }
      if (autoCommit) {
        connection.setAutoCommit(true);
      }
      pooler.restore(connection);
    } catch (SQLException e) {
      connection.abort(Runnable::run);
      throw e;
    }
  }
}
