package io.sqlstreams.internal.upkeep;

import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** The ids of an installation's streams. Thread-safe. */
final class StreamIds {
  private final Database database;
  private final Scope system;

  StreamIds(Database database, Scope system) {
    this.database = database;
    this.system = system;
  }

  List<Long> all() {
    return database.autoCommitted(
        "list the streams", c -> read(c, AdvanceSql.STREAMS.in(system).sql()));
  }

  /** The first column of every row. */
  static List<Long> read(Connection connection, String query) throws SQLException {
    List<Long> ids = new ArrayList<>();
    try (java.sql.Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(query)) {
      while (row.next()) {
        ids.add(row.getLong(1));
      }
    }
    return ids;
  }
}
