package io.sqlstreams.internal.migration;

import io.sqlstreams.error.VersionMismatchException;
import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.sql.Template;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * The version of some tables.
 *
 * @param version the newest step that was applied to them
 * @param minCompatible the oldest build that may work on them
 */
record Version(int version, int minCompatible) {
  /** The version of an installation's control plane, or of a stream's family. */
  static Version read(Connection connection, Scope tables) throws SQLException {
    Template query =
        tables.streamId() == 0 ? MigrationSql.SYSTEM_VERSION : MigrationSql.STREAM_VERSION;
    try (Call call = query.in(tables).on(connection);
        ResultSet row = call.query()) {
      row.next();
      return of(row);
    }
  }

  static Version of(ResultSet row) throws SQLException {
    return new Version(row.getInt("version"), row.getInt("min_compatible_version"));
  }

  /**
   * @param subject whose tables they are, for messages
   * @param newest the newest version that this build knows
   * @throws VersionMismatchException when this build can't work on them
   */
  void require(String subject, int newest) {
    if (version < newest) {
      throw VersionMismatchException.older(subject, version, newest);
    }
    if (minCompatible > newest) {
      throw VersionMismatchException.newer(subject, version, minCompatible, newest);
    }
  }
}
