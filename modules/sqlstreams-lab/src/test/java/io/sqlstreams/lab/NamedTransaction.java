package io.sqlstreams.lab;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * A step-by-step transaction of one named session: {@code A inserts, B inserts, B commits, ...}.
 */
public final class NamedTransaction implements AutoCloseable {
  private final TestStream stream;
  private final Connection connection;

  private NamedTransaction(TestStream stream, Connection connection) {
    this.stream = stream;
    this.connection = connection;
  }

  static NamedTransaction begin(TestStream stream, String session) {
    try {
      Connection connection = stream.dataSource().getConnection();
      connection.setAutoCommit(false);
      try (Statement statement = connection.createStatement()) {
        statement.execute("SET LOCAL application_name = '" + session + "'");
      }
      return new NamedTransaction(stream, connection);
    } catch (SQLException e) {
      throw new IllegalStateException(session, e);
    }
  }

  public Connection connection() {
    return connection;
  }

  /** Takes a transaction id without writing anything. */
  public NamedTransaction takesTransactionId() {
    return runs("SELECT pg_current_xact_id()");
  }

  /** Inserts one message and gives its id. */
  public long inserts() {
    return number("INSERT INTO {log} (schema_version, payload) VALUES (1, '{}') RETURNING id");
  }

  public long number(String sql) {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(stream.sql(sql))) {
      row.next();
      return row.getLong(1);
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  public NamedTransaction runs(String sql) {
    try (Statement statement = connection.createStatement()) {
      statement.execute(stream.sql(sql));
      return this;
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  public void commits() {
    end("COMMIT");
  }

  public void rollsBack() {
    end("ROLLBACK");
  }

  private void end(String sql) {
    runs(sql);
    close();
  }

  @Override
  public void close() {
    try {
      if (!connection.isClosed()) {
        connection.rollback();
        connection.close();
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
