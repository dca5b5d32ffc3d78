package io.sqlstreams.internal.inspect;

import io.sqlstreams.GroupSnapshot;
import io.sqlstreams.StreamInfo;
import io.sqlstreams.VersionInfo;
import io.sqlstreams.VersionRest;
import io.sqlstreams.error.StreamNotFoundException;
import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.sql.SqlErrors;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What is left of each schema version. Nothing is locked or written. Thread-safe. */
public final class Versions {
  private final Database database;
  private final Scope system;

  /**
   * @param system the installation
   */
  public Versions(Database database, Scope system) {
    this.database = database;
    this.system = system;
  }

  /**
   * Each version of the stream, ascending, in one statement.
   *
   * @throws StreamNotFoundException when the stream was destroyed meanwhile
   */
  public List<VersionInfo> list(StreamInfo stream) {
    Scope scope = system.stream(stream.id());
    return database.autoCommitted(
        "listing the schema versions of stream \"" + stream.name() + "\"",
        connection -> {
          try (Call call = VersionSql.VERSIONS.asLook(scope).on(connection)) {
            return read(
                call.set("stream", scope.streamId())
                    .set("count_limit", (long) GroupSnapshot.COUNT_LIMIT)
                    .set("most_keys", (long) VersionInfo.MAX_KEYS)
                    .query());
          } catch (SQLException e) {
            if (SqlErrors.isUndefinedTable(e)) {
              throw new StreamNotFoundException(stream.name());
            }
            throw e;
          }
        });
  }

  private static List<VersionInfo> read(ResultSet row) throws SQLException {
    List<VersionInfo> versions = new ArrayList<>();
    boolean more = row.next();
    while (more) {
      int version = row.getInt("version");
      long heads = row.getLong("heads");
      List<String> keys = List.of((String[]) row.getArray("head_keys").getArray());
      List<VersionRest> groups = new ArrayList<>();
      do {
        @Nullable String group = row.getString("name");
        if (group != null) { // null: the stream has no group
          groups.add(readRest(row, group));
        }
        more = row.next();
      } while (more && row.getInt("version") == version);
      versions.add(new VersionInfo(version, groups, heads, keys));
    }
    return versions;
  }

  private static VersionRest readRest(ResultSet row, String group) throws SQLException {
    return new VersionRest(
        group,
        row.getBoolean("is_read"),
        row.getLong("unread"),
        row.getLong("waiting"),
        row.getLong("dead"),
        row.getBoolean("is_exact"));
  }
}
