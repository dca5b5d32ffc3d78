package io.sqlstreams.test;

import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** See {@link TestDatabase#hostile()}. */
final class HostileDataSource implements DataSource {

  static final String TIME_ZONE = "America/New_York";

  private final DataSource plain;

  HostileDataSource(DataSource plain) {
    this.plain = plain;
  }

  @Override
  public Connection getConnection() throws SQLException {
    return hostile(plain.getConnection());
  }

  @Override
  public Connection getConnection(String user, String password) throws SQLException {
    return hostile(plain.getConnection(user, password));
  }

  private static Connection hostile(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("SET default_transaction_isolation = 'serializable'");
      statement.execute("SET TimeZone = '" + TIME_ZONE + "'");
      statement.execute("SET search_path = ''");
      connection.setAutoCommit(false);
      return connection;
    } catch (SQLException e) {
      connection.close();
      throw e;
    }
  }

  @Override
  public @Nullable PrintWriter getLogWriter() throws SQLException {
    return plain.getLogWriter();
  }

  @Override
  public void setLogWriter(@Nullable PrintWriter out) throws SQLException {
    plain.setLogWriter(out);
  }

  @Override
  public void setLoginTimeout(int seconds) throws SQLException {
    plain.setLoginTimeout(seconds);
  }

  @Override
  public int getLoginTimeout() throws SQLException {
    return plain.getLoginTimeout();
  }

  @Override
  public Logger getParentLogger() throws SQLFeatureNotSupportedException {
    return plain.getParentLogger();
  }

  @Override
  public <T> T unwrap(Class<T> type) throws SQLException {
    if (type.isInstance(this)) {
      return type.cast(this);
    }
    throw new SQLException("Not a wrapper for " + type.getName());
  }

  @Override
  public boolean isWrapperFor(Class<?> type) {
    return type.isInstance(this);
  }
}
