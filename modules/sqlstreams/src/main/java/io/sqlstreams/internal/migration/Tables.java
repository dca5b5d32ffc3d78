package io.sqlstreams.internal.migration;

import io.sqlstreams.TablesVersion;
import io.sqlstreams.config.MigrationScope;
import io.sqlstreams.internal.sql.Scope;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * Tables that have a version, and what is known of it.
 *
 * @param where their place; the control plane's or a stream's
 * @param stream the stream's name; null for the control plane
 * @param unfinished the version of a step that was begun; 0: none
 * @param error what stopped it
 */
record Tables(
    Scope where, @Nullable String stream, Version version, int unfinished, @Nullable String error) {

  static Tables of(Scope system, ResultSet row) throws SQLException {
    long owner = row.getLong("owner");
    return new Tables(
        owner == 0 ? system : system.stream(owner),
        row.getString("name"),
        Version.of(row),
        row.getInt("unfinished"),
        row.getString("error"));
  }

  MigrationScope scope() {
    return stream == null ? MigrationScope.SYSTEM : MigrationScope.STREAM;
  }

  /** Whose they are, for messages. */
  String subject() {
    return stream == null
        ? "the installation in schema \"" + where.schema() + "\""
        : "stream \"" + stream + "\"";
  }

  TablesVersion toApi(int newest) {
    return new TablesVersion(
        scope(), stream, version.version(), version.minCompatible(), newest, unfinished, error);
  }
}
