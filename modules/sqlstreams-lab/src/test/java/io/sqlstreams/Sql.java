package io.sqlstreams;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** Plain statements for what tests arrange and look at. */
final class Sql {
  private Sql() {}

  static void execute(DataSource source, String sql) throws SQLException {
    try (Connection connection = source.getConnection()) {
      execute(connection, sql);
    }
  }

  static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /** Each row's columns joined by a space. */
  static List<String> rows(DataSource source, String sql) throws SQLException {
    try (Connection connection = source.getConnection()) {
      return rows(connection, sql);
    }
  }

  static List<String> rows(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      List<String> rows = new ArrayList<>();
      int columns = row.getMetaData().getColumnCount();
      while (row.next()) {
        List<String> values = new ArrayList<>();
        for (int i = 1; i <= columns; i++) {
          values.add(row.getString(i));
        }
        rows.add(String.join(" ", values));
      }
      return rows;
    }
  }

  static String value(DataSource source, String sql) throws SQLException {
    List<String> rows = rows(source, sql);
    if (rows.size() != 1) {
      throw new IllegalStateException(rows.size() + " rows: " + sql);
    }
    return rows.get(0);
  }

  /** A source of sessions that begin with these settings, such as {@code -c role=app}. */
  static DataSource withOptions(String jdbcUrl, String options) {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setURL(jdbcUrl);
    source.setOptions(options);
    return source;
  }
}
