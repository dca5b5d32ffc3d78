package io.sqlstreams.internal.wake;

import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.sql.SqlErrors;
import io.sqlstreams.internal.sql.Statement;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The {@link Watcher}'s statements: each looks at many streams or groups at once. */
final class Looks {
  private static final Logger log = LoggerFactory.getLogger(Looks.class);

  /**
   * How many sequences one statement asks. Each is locked until the statement ends, and the
   * server's table of locks is shared: it holds 64 for each connection by default.
   */
  private static final int SEQUENCES_AT_ONCE = 250;

  /** A lock in the way, as of DDL that isn't committed, must not hold up the look at the others. */
  private static final Duration PATIENCE = Duration.ofSeconds(2);

  private final Statement sequences;
  private final Statement writers;
  private final Statement groups;
  private boolean warned;

  Looks(Scope system) {
    this.sequences = WakeSql.SEQUENCES.in(system);
    this.writers = WakeSql.WRITERS.in(system);
    this.groups = WakeSql.GROUPS.in(system);
  }

  /**
   * What became of sequences.
   *
   * @param moved the newest id of those where it differs
   * @param unseen the streams that could not be looked at
   */
  record Sequences(Map<Long, Long> moved, Set<Long> unseen) {}

  /**
   * A group that isn't as it was.
   *
   * @param settings null when it has none
   */
  record ChangedGroup(long group, String version, @Nullable String settings) {}

  /**
   * Looks at sequences.
   *
   * @param known the newest id of each stream, as far as it is known
   */
  Sequences sequences(Connection connection, Map<Long, Long> known) throws SQLException {
    Sequences found = new Sequences(new HashMap<>(), new HashSet<>());
    List<Long> streams = known.keySet().stream().sorted().toList();
    for (int from = 0; from < streams.size(); from += SEQUENCES_AT_ONCE) {
      List<Long> some = streams.subList(from, Math.min(streams.size(), from + SEQUENCES_AT_ONCE));
      try {
        sequences(connection, some, known, found.moved());
      } catch (SQLException e) {
        if (SqlErrors.isConnectionLost(e)) {
          throw e;
        }
        // one of them is locked, was dropped a moment ago, or may not be read
        found.unseen().addAll(some);
        warn(e);
      }
    }
    return found;
  }

  private void warn(SQLException e) {
    if (!warned) {
      warned = true;
      log.warn(
          "the newest ids of some streams can't be read: {}; their groups look for messages themselves",
          SqlErrors.oneLine(e));
    }
  }

  private void sequences(
      Connection connection, List<Long> streams, Map<Long, Long> known, Map<Long, Long> moved)
      throws SQLException {
    try (Call call = sequences.on(connection).within(PATIENCE)) {
      ResultSet row =
          call.setArray("streams", "bigint", streams.toArray())
              .setArray("newest", "bigint", streams.stream().map(known::get).toArray())
              .query();
      while (row.next()) {
        moved.put(row.getLong("stream"), row.getLong("newest"));
      }
    }
  }

  /** The writers of these streams; empty for none. */
  Map<Long, String> writers(Connection connection, Collection<Long> streams) throws SQLException {
    try (Call call = writers.on(connection).within(PATIENCE)) {
      ResultSet row = call.setArray("streams", "bigint", streams.toArray()).query();
      Map<Long, String> found = new HashMap<>();
      while (row.next()) {
        String listed = row.getString("writers");
        found.put(row.getLong("stream"), listed == null ? "" : listed);
      }
      return found;
    }
  }

  /**
   * Looks at groups.
   *
   * @param known the version of each, as far as it is known
   */
  List<ChangedGroup> groups(Connection connection, Map<Long, String> known) throws SQLException {
    List<Long> ids = List.copyOf(known.keySet());
    try (Call call = groups.on(connection).within(PATIENCE)) {
      ResultSet row =
          call.setArray("groups", "bigint", ids.toArray())
              .setArray("versions", "text", ids.stream().map(known::get).toArray())
              .query();
      List<ChangedGroup> found = new ArrayList<>();
      while (row.next()) {
        found.add(
            new ChangedGroup(
                row.getLong("id"), row.getString("version"), row.getString("settings")));
      }
      return found;
    }
  }
}
