package io.sqlstreams.internal.migration;

import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import java.sql.ResultSet;
import java.util.ArrayList;
import java.util.List;

/** Reads the versions of an installation's tables. Thread-safe. */
final class Versions {
  private final Database database;
  private final Scope system;

  Versions(Database database, Scope system) {
    this.database = database;
    this.system = system;
  }

  /** The control plane first, then the streams by their ids. */
  List<Tables> all() {
    return database.autoCommitted(
        "read the versions of the tables",
        connection -> {
          List<Tables> all = new ArrayList<>();
          try (Call call = MigrationSql.VERSIONS.in(system).on(connection);
              ResultSet row = call.query()) {
            while (row.next()) {
              all.add(Tables.of(system, row));
            }
          }
          return all;
        });
  }
}
