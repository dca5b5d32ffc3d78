package io.sqlstreams.lab;

import io.sqlstreams.test.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/** Somebody who listens to what an installation tells. */
public final class Ear implements AutoCloseable {
  private static final String MARK = "mark";

  private final TestDatabase database;
  private final Connection connection;

  public Ear(TestDatabase database) throws SQLException {
    this.database = database;
    this.connection = database.dataSource().getConnection();
    execute(connection, "LISTEN \"sqlstreams." + database.schema() + "\"");
  }

  /** Everything that was told since the last call by transactions that have committed by now. */
  public List<String> heard() throws SQLException {
    try (Connection other = database.dataSource().getConnection()) {
      // the server delivers in the order of the commits
      execute(other, "SELECT pg_notify('sqlstreams." + database.schema() + "', '" + MARK + "')");
    }
    List<String> heard = new ArrayList<>();
    while (!heard.contains(MARK)) {
      for (PGNotification one : connection.unwrap(PGConnection.class).getNotifications(1_000)) {
        heard.add(one.getParameter());
      }
    }
    heard.remove(MARK);
    return heard;
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }
}
