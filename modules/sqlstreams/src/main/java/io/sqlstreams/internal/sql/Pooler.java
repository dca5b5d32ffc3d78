package io.sqlstreams.internal.sql;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether the driver talks to the server itself, or to a pooler that may give each transaction
 * another session of the server. There, nothing may be left in a session: the driver's prepared
 * statements are switched off while the library works on a connection. Found out on the first
 * connection of a client. Thread-safe.
 */
public final class Pooler {
  private static final Logger log = LoggerFactory.getLogger(Pooler.class);

  /** The driver prepares a statement on the server after so many uses; 0: never. */
  private static final int NEVER = 0;

  private volatile @Nullable Boolean isThere;

  /** What connections of the data source have. */
  private volatile int usualThreshold;

  /**
   * Whether there is one.
   *
   * @param connection any connection of the client's
   */
  public boolean isThere(Connection connection) throws SQLException {
    Boolean known = isThere;
    if (known == null) {
      known = look(connection);
      isThere = known;
    }
    return known;
  }

  /** Makes a connection that comes from the data source fit for the library's work. */
  void adapt(Connection connection) throws SQLException {
    if (isThere == null) {
      boolean autoCommit = connection.getAutoCommit();
      if (!autoCommit) {
        connection.setAutoCommit(true); // no transaction is open yet, and none must be left open
      }
      isThere(connection);
      if (!autoCommit) {
        connection.setAutoCommit(false);
      }
    }
    if (isThere(connection)) {
      connection.unwrap(PGConnection.class).setPrepareThreshold(NEVER);
    }
  }

  /** Makes it as it was before {@link #adapt}. */
  void restore(Connection connection) throws SQLException {
    if (Boolean.TRUE.equals(isThere)) {
      connection.unwrap(PGConnection.class).setPrepareThreshold(usualThreshold);
    }
  }

  /** Works on a connection of a caller, which may be in a transaction. */
  <R> R around(Connection connection, SqlWork<R> work) throws SQLException {
    if (!isThere(connection)) {
      return work.with(connection);
    }
    PGConnection driver = connection.unwrap(PGConnection.class);
    int threshold = driver.getPrepareThreshold();
    driver.setPrepareThreshold(NEVER);
    try {
      return work.with(connection);
    } finally {
      driver.setPrepareThreshold(threshold);
    }
  }

  /** A pooler names a session of its own to the driver. */
  private boolean look(Connection connection) throws SQLException {
    if (!connection.isWrapperFor(PGConnection.class)) {
      return false; // what works on it says so
    }
    PGConnection driver = connection.unwrap(PGConnection.class);
    try (java.sql.Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT pg_backend_pid() /* find_pooler */")) {
      row.next();
      boolean found = row.getInt(1) != driver.getBackendPID();
      if (found) {
        usualThreshold = driver.getPrepareThreshold();
        log.info(
            "between this client and the server is a pooler: statements aren't prepared on the server");
      }
      return found;
    }
  }
}
