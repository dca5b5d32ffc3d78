package io.sqlstreams.internal.produce;

import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.error.ErrorCode;
import io.sqlstreams.error.SqlStreamsException;
import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.SqlErrors;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * Repeats a write that failed for a reason that goes away, and that was undone: nothing of it is in
 * the log. Thread-safe.
 */
final class Attempts {
  /** A write, whole or undone. */
  interface Write {
    Receipts to(TargetLog log) throws SQLException;
  }

  private static final int MOST_HEALINGS = 12;

  /**
   * Other writers draw ids while one heals, and so do their attempts that fail: each healing looks
   * twice as far ahead.
   */
  private static final int MOST_DOUBLINGS = 6;

  private static final int MOST_LOOKS = 10;
  private static final int MOST_CONTENTIONS = 4;
  private static final int LONGEST_PAUSE_MS = 50;

  /** The healer fills no larger gap than 1,000 partitions at once. */
  private static final int PARTITIONS_AT_ONCE = 500;

  private final Database database;
  private final PartitionHealer healer;
  private final StreamCache streams;
  private final String schema;

  Attempts(Database database, PartitionHealer healer, StreamCache streams, String schema) {
    this.database = database;
    this.healer = healer;
    this.streams = streams;
    this.schema = schema;
  }

  /**
   * Writes these messages.
   *
   * @param bounds within the caller's transaction, a contention isn't ours to repeat
   */
  Receipts run(TargetLog first, Bounds bounds, List<ReadyMessage> messages, Write write) {
    TargetLog log = first;
    int healings = 0;
    int contentions = 0;
    while (true) {
      try {
        return write.to(log);
      } catch (SQLException e) {
        if (Refusals.isMissingPartition(e, log.stream().id()) && healings < MOST_HEALINGS) {
          heal(log, (long) messages.size() << Math.min(healings, MOST_DOUBLINGS));
          healings++;
        } else if (bounds.isTransaction()
            && SqlErrors.isContention(e)
            && contentions < MOST_CONTENTIONS) {
          contentions++;
          pause(e);
        } else if (SqlErrors.isUndefinedTable(e) && log == first) {
          log = replace(log, messages, e);
        } else {
          // who lent the connection may hold the pool's last
          throw bounds.isTransaction() && SqlErrors.isPermissionDenied(e)
              ? database.refusal(Refusals.what(streams.name()), e)
              : refusal(e);
        }
      }
    }
  }

  /**
   * Creates the partitions of the next ids, of this number. Others may have drawn ids while this
   * one waited for its turn to create, so it looks again until what it created still lies ahead.
   */
  private void heal(TargetLog log, long count) {
    long through = 0;
    for (int look = 0; look < MOST_LOOKS; look++) {
      long last = database.autoCommitted(Refusals.what(streams.name()), c -> lastDrawnId(c, log));
      if (last + count <= through) {
        return;
      }
      through = last + 2 * count;
      long step = log.stream().config().partitionSize() * PARTITIONS_AT_ONCE;
      // from the first on: the ids may have jumped, and what they jumped over needs no partition
      for (long id = last + 1; id < through; id += step) {
        healer.ensureThrough(log.stream(), id);
      }
      healer.ensureThrough(log.stream(), through);
    }
  }

  private static long lastDrawnId(Connection connection, TargetLog log) throws SQLException {
    try (Call call = log.lastDrawnId().on(connection);
        ResultSet row = call.query()) {
      row.next();
      return row.getLong("id");
    }
  }

  private void pause(SQLException reason) {
    try {
      TimeUnit.MILLISECONDS.sleep(1 + ThreadLocalRandom.current().nextInt(LONGEST_PAUSE_MS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw refusal(reason);
    }
  }

  /** What a failure that isn't repeated means. */
  SqlStreamsException refusal(SQLException e) {
    return Refusals.translate(streams.name(), schema, e);
  }

  /** The log was dropped: the name may stand for another one by now, with other rules. */
  private TargetLog replace(TargetLog gone, List<ReadyMessage> messages, SQLException reason) {
    TargetLog log = streams.replace(gone);
    if (log.stream().id() == gone.stream().id()) {
      throw new DatabaseException(
          ErrorCode.DATABASE_ERROR,
          Refusals.what(log.stream().name())
              + ": it is registered, but a table of it is missing: restore its tables from a backup, or destroy the stream",
          SqlErrors.state(reason),
          reason);
    }
    messages.forEach(message -> MessageChecks.payload(message.payload(), log.stream().config()));
    return log;
  }
}
