package io.sqlstreams.internal.fence;

import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.sql.Statement;
import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The proof that an id which isn't visible never comes. A claim passes an id only if it has seen
 * its row, or if the id is at or below the group's {@code settled_head}, which {@link #prove}
 * moves.
 *
 * <p>Time never proves anything: a writer that stays open holds the group at its gap, and is named
 * in a warning.
 *
 * <p>Not thread-safe: it belongs to the session's fetching thread.
 */
public final class Fence {
  /**
   * How long a group is held back before a warning names the writers, and between two such
   * warnings.
   */
  static final Duration WARN_AFTER = Duration.ofSeconds(10);

  private static final Logger log = LoggerFactory.getLogger(Fence.class);

  private final Database database;
  private final String subject;
  private final long group;
  private final String messageLog;
  private final Statement look;
  private final Statement writers;
  private long heldAt = -1;
  private long heldSince;
  private long warned;

  /**
   * @param subject the group in words, for warnings
   * @param group the group's id
   */
  public Fence(Database database, Scope scope, String subject, long group) {
    this.database = database;
    this.subject = subject;
    this.group = group;
    this.messageLog = scope.messageLog();
    this.look = FenceSql.LOOK.asRelaxedTransaction(scope);
    this.writers = FenceSql.WRITERS.asTransaction(scope);
  }

  private record Result(boolean settled, long pendingHead, List<String> writers) {}

  /**
   * Looks at the writers once, for a group that stands at a gap.
   *
   * @param claimed the id at which it stands
   * @return whether {@code settled_head} has moved, so that a new claim may pass
   */
  public boolean prove(long claimed) {
    if (claimed != heldAt) {
      heldAt = claimed;
      heldSince = System.nanoTime();
      warned = heldSince;
    }
    Result result = look();
    if (!result.settled()) {
      warnWhenLong(result);
    }
    return result.settled();
  }

  private Result look() {
    return database.autoCommitted(
        "looking at the writers of " + messageLog,
        connection -> {
          try (Call call = look.on(connection)) {
            ResultSet row = call.set("message_log", messageLog).set("group", group).query();
            if (!row.next()) {
              return new Result(false, 0, List.of());
            }
            @Nullable Array listed = row.getArray("writers");
            return new Result(
                row.getBoolean("settled"),
                row.getLong("pending_head"),
                listed == null ? List.of() : List.of((String[]) listed.getArray()));
          }
        });
  }

  private void warnWhenLong(Result result) {
    long now = System.nanoTime();
    if (now - warned > WARN_AFTER.toNanos()) {
      warned = now;
      log.warn(
          "{} has waited {} s at a gap for an open transaction that may still bring messages up to id {}: {}."
              + " It goes on when that transaction ends; nothing is skipped",
          subject,
          Duration.ofNanos(now - heldSince).toSeconds(),
          result.pendingHead(),
          describe(result.writers()));
    }
  }

  private String describe(List<String> open) {
    return database.autoCommitted(
        "looking at the writers of " + messageLog,
        connection -> {
          try (Call call = writers.on(connection)) {
            ResultSet row =
                call.set("message_log", messageLog)
                    .setArray("writers", "text", open.toArray())
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
    String application = row.getString("application_name");
    String age = row.getString("age_seconds");
    return (pid == null ? "a prepared transaction" : "pid " + pid)
        + (application == null || application.isEmpty() ? "" : " (" + application + ")")
        + (age == null ? "" : ", open for " + age + " s");
  }
}
