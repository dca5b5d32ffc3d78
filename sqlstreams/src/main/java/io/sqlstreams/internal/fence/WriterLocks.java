package io.sqlstreams.internal.fence;

import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.sql.Statement;
import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Who writes to one stream's log, read from the lock table. Thread-safe. */
final class WriterLocks {
  private final Database database;
  private final String messageLog;
  private final Statement look;
  private final Statement stillWriting;
  private final Statement load;
  private final Statement savePending;
  private final Statement blockers;

  WriterLocks(Database database, Scope scope) {
    this.database = database;
    this.messageLog = scope.messageLog();
    this.look = FenceSql.LOOK.asTransaction(scope);
    this.stillWriting = FenceSql.STILL_WRITING.asTransaction(scope);
    this.load = FenceSql.LOAD.asTransaction(scope);
    this.savePending = FenceSql.SAVE_PENDING.asTransaction(scope);
    this.blockers = FenceSql.BLOCKERS.asTransaction(scope);
  }

  Look look() {
    return database.autoCommitted(
        "looking at the writers of " + messageLog,
        connection -> {
          try (Call call = look.on(connection)) {
            ResultSet row = call.set("message_log", messageLog).query();
            row.next();
            return new Look(row.getLong("head"), texts(row, "writers"));
          }
        });
  }

  /** Those of the writers that still write. */
  List<String> stillWriting(List<String> writers) {
    return database.autoCommitted(
        "looking at the writers of " + messageLog,
        connection -> {
          try (Call call = stillWriting.on(connection)) {
            ResultSet row =
                call.set("message_log", messageLog)
                    .setArray("writers", "text", writers.toArray())
                    .query();
            row.next();
            return texts(row, "writers");
          }
        });
  }

  /** What the group's cursor says: a look whose head is proven (no writers), and perhaps a newer one that isn't. */
  Stored load(long group) {
    return database.autoCommitted(
        "reading the position of a group",
        connection -> {
          try (Call call = load.on(connection)) {
            ResultSet row = call.set("group", group).query();
            if (!row.next()) {
              return new Stored(0, null);
            }
            long pendingHead = row.getLong("pending_head");
            Look pending = row.wasNull() ? null : new Look(pendingHead, texts(row, "pending_writers"));
            return new Stored(row.getLong("settled_head"), pending);
          }
        });
  }

  void savePending(long group, Look pending) {
    database.autoCommitted(
        "recording who holds a group back",
        connection -> {
          try (Call call = savePending.on(connection)) {
            return call.set("group", group)
                .set("head", pending.head())
                .setArray("writers", "text", pending.writers().toArray())
                .update();
          }
        });
  }

  /** The oldest of these writers in words: pid, application and age. */
  String describe(List<String> writers) {
    return database.autoCommitted(
        "looking at the writers of " + messageLog,
        connection -> {
          try (Call call = blockers.on(connection)) {
            ResultSet row =
                call.set("message_log", messageLog)
                    .setArray("writers", "text", writers.toArray())
                    .query();
            List<String> described = new ArrayList<>();
            while (row.next()) {
              described.add(describe(row));
            }
            return String.join(", ", described);
          }
        });
  }

  private static String describe(ResultSet row) throws SQLException {
    String pid = row.getString("pid");
    String who = pid == null ? "a prepared transaction" : "pid " + pid;
    String application = row.getString("application_name");
    String age = row.getString("age_seconds");
    return who
        + (application == null || application.isEmpty() ? "" : " (" + application + ")")
        + (age == null ? "" : ", open for " + age + " s");
  }

  private static List<String> texts(ResultSet row, String column) throws SQLException {
    @Nullable Array array = row.getArray(column);
    return array == null ? List.of() : List.of((String[]) array.getArray());
  }

  /**
   * The fence's part of a cursor row.
   *
   * @param settledHead every id up to it is settled for statements that start later
   * @param pending a newer look without its proof
   */
  record Stored(long settledHead, @Nullable Look pending) {}
}
