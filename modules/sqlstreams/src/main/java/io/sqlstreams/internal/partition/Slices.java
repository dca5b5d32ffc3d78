package io.sqlstreams.internal.partition;

import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.sql.SqlErrors;
import io.sqlstreams.internal.sql.Template;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Looks at the partitions of the logs, and takes off what retention has given up. Produce and claim
 * never wait for any of it: what must wait for a lock gives up after a moment, and whoever asked
 * comes again. Thread-safe.
 */
public final class Slices {
  /**
   * How long taking a partition off waits for the transactions that use the log. It is done in any
   * case; what is left to do after that, a later call finishes.
   */
  private static final int DETACH_SECONDS = 1;

  /** object_not_in_prerequisite_state: it is being detached already, or no more. */
  private static final String OTHER_STATE = "55000";

  private final Database database;
  private final Scope system;

  /**
   * @param system the installation
   */
  public Slices(Database database, Scope system) {
    this.database = database;
    this.system = system;
  }

  /** The partitions of these streams' logs, by stream, the lowest ids first. */
  public Map<Long, List<Slice>> of(Collection<Long> streams) {
    return database
        .autoCommitted("look at the partitions", connection -> read(connection, system, streams))
        .stream()
        .collect(Collectors.groupingBy(Slice::streamId));
  }

  static List<Slice> read(Connection connection, Scope system, Collection<Long> streams)
      throws SQLException {
    List<Slice> found = new ArrayList<>();
    try (Call call = PartitionSql.SLICES.in(system).on(connection)) {
      ResultSet row = call.setArray("streams", "bigint", streams.toArray()).query();
      while (row.next()) {
        found.add(
            new Slice(
                row.getLong("stream_id"),
                row.getString("name"),
                bound(row, "low", 1),
                bound(row, "high", Long.MAX_VALUE),
                row.getBoolean("is_detaching")));
      }
    }
    return found;
  }

  private static long bound(ResultSet row, String column, long open) throws SQLException {
    @Nullable BigDecimal bound = row.getBigDecimal(column);
    return bound == null ? open : bound.longValueExact();
  }

  /**
   * Sees to it that ids which are drawn later are above this one.
   *
   * @return whether that is so now; false when somebody was in the way
   */
  public boolean passIds(long stream, long last) {
    return patiently(
        "leave the rest of a partition of stream " + stream,
        connection ->
            PartitionSql.PASS_IDS
                .withNumber("last", last)
                .in(system.stream(stream))
                .run(connection));
  }

  /**
   * Takes a partition off its log.
   *
   * @return whether it is off; false when transactions that use the log, or its rows, were in the
   *     way
   */
  public boolean takeOff(Slice slice) {
    String what = "detach partition " + slice.name();
    if (slice.isDetaching()) {
      return patiently(what, c -> on(slice, PartitionSql.FINISH_DETACH).run(c));
    }
    return patiently(what, c -> on(slice, PartitionSql.MARK).run(c)) && detach(what, slice);
  }

  private boolean detach(String what, Slice slice) {
    return database.autoCommitted(
        what,
        connection -> {
          // no lock_timeout: it would stay behind in a session that a pooler shares
          try (java.sql.Statement statement = connection.createStatement()) {
            statement.setQueryTimeout(DETACH_SECONDS);
            statement.execute(on(slice, PartitionSql.DETACH).sql());
            return true;
          } catch (SQLException e) {
            if (SqlErrors.isCancelled(e) || isInTheWay(e)) {
              return false;
            }
            throw e;
          }
        });
  }

  /**
   * Drops a table that was a partition.
   *
   * @return whether it is gone; false when somebody was in the way
   */
  public boolean drop(Slice slice) {
    return patiently("drop " + slice.name(), c -> on(slice, PartitionSql.DROP_MARKED).run(c));
  }

  /**
   * The tables that {@link #takeOff} has taken off, of any stream, and {@link #drop} not dropped.
   */
  public List<Slice> leftBehind() {
    return database.autoCommitted(
        "look for tables that were partitions",
        connection -> {
          List<Slice> found = new ArrayList<>();
          try (Call call = PartitionSql.MARKED.in(system).on(connection);
              ResultSet row = call.query()) {
            while (row.next()) {
              found.add(new Slice(row.getLong("stream_id"), row.getString("name"), 0, 0, false));
            }
          }
          return found;
        });
  }

  private io.sqlstreams.internal.sql.Statement on(Slice slice, Template template) {
    return template.withPart("partition", slice.name()).in(system.stream(slice.streamId()));
  }

  /** Whether a lock was in the way, or somebody else who does the same has been faster. */
  private static boolean isInTheWay(SQLException e) {
    return SqlErrors.isContention(e)
        || SqlErrors.isUndefinedTable(e)
        || SqlErrors.state(e).equals(OTHER_STATE);
  }

  private interface Step {
    void on(Connection connection) throws SQLException;
  }

  /** Whether it went through; false when somebody was in the way. */
  private boolean patiently(String what, Step step) {
    return database.inTransaction(
        what,
        connection -> {
          try {
            step.on(connection);
            return true;
          } catch (SQLException e) {
            if (!isInTheWay(e)) {
              throw e;
            }
            connection.rollback();
            return false;
          }
        });
  }
}
