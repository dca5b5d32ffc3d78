package io.sqlstreams.internal.inspect;

import io.sqlstreams.ExceptionCounts;
import io.sqlstreams.FenceBlocker;
import io.sqlstreams.GroupInfo;
import io.sqlstreams.GroupLag;
import io.sqlstreams.GroupSnapshot;
import io.sqlstreams.OldestMessage;
import io.sqlstreams.StreamInfo;
import io.sqlstreams.error.GroupNotFoundException;
import io.sqlstreams.error.StreamNotFoundException;
import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Instants;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.sql.SqlErrors;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Where groups stand. Nothing is locked or written. Thread-safe. */
public final class Snapshots {
  private final Database database;
  private final Scope system;

  /**
   * @param system the installation
   */
  public Snapshots(Database database, Scope system) {
    this.database = database;
    this.system = system;
  }

  /**
   * Where the group stands, in one statement.
   *
   * @throws GroupNotFoundException when it was destroyed meanwhile
   * @throws StreamNotFoundException when its stream was
   */
  public GroupSnapshot take(StreamInfo stream, GroupInfo group) {
    Scope scope = system.stream(stream.id());
    return database.autoCommitted(
        "looking at group \"" + group.name() + "\" of stream \"" + stream.name() + "\"",
        connection -> {
          try (Call call = SnapshotSql.SNAPSHOT.asLook(scope).on(connection)) {
            ResultSet row =
                call.set("group", group.id())
                    .set("message_log", scope.messageLog())
                    .set("count_limit", GroupSnapshot.COUNT_LIMIT)
                    .set("most_blockers", GroupSnapshot.MAX_BLOCKERS)
                    .query();
            if (!row.next()) {
              throw new GroupNotFoundException(stream.name(), group.name());
            }
            return read(row);
          } catch (SQLException e) {
            if (SqlErrors.isUndefinedTable(e)) {
              throw new StreamNotFoundException(stream.name());
            }
            throw e;
          }
        });
  }

  private static GroupSnapshot read(ResultSet row) throws SQLException {
    return new GroupSnapshot(
        Instants.of(row, "taken_at"),
        row.getLong("head"),
        row.getLong("claimed"),
        row.getLong("committed"),
        readLag(row),
        row.getInt("open_ranges"),
        readExceptions(row),
        readOldest(row, "next_id", "next_created_at"),
        readOldest(row, "unresolved_id", "unresolved_since"),
        readOldest(row, "due_id", "due_since"),
        readBlockers(row));
  }

  private static GroupLag readLag(ResultSet row) throws SQLException {
    long unclaimedRest = row.getLong("unclaimed_rest");
    long unresolvedRest = row.getLong("unresolved_rest");
    return new GroupLag(
        row.getLong("unclaimed_counted") + unclaimedRest,
        row.getLong("open_messages"),
        row.getLong("unresolved_counted") + unresolvedRest,
        unclaimedRest == 0 && unresolvedRest == 0);
  }

  private static ExceptionCounts readExceptions(ResultSet row) throws SQLException {
    return new ExceptionCounts(
        row.getInt("due"),
        row.getInt("retrying"),
        row.getInt("delayed"),
        row.getInt("inflight"),
        row.getInt("deferred"),
        row.getInt("dead"),
        row.getInt("superseded"));
  }

  private static @Nullable OldestMessage readOldest(ResultSet row, String id, String since)
      throws SQLException {
    @Nullable Instant at = Instants.orNull(row, since);
    return at == null ? null : new OldestMessage(row.getLong(id), at);
  }

  /** Of this row and all that follow. */
  private static List<FenceBlocker> readBlockers(ResultSet row) throws SQLException {
    List<FenceBlocker> blockers = new ArrayList<>();
    do {
      if (row.getBoolean("is_blocked")) {
        @Nullable Long micros = row.getObject("age_us", Long.class);
        blockers.add(
            new FenceBlocker(
                row.getObject("pid", Integer.class),
                row.getString("application_name"),
                micros == null ? null : Duration.of(micros, ChronoUnit.MICROS)));
      }
    } while (row.next());
    return blockers;
  }
}
