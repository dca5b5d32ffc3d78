package io.sqlstreams.internal.position;

import io.sqlstreams.StreamInfo;
import io.sqlstreams.config.Start;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.error.NotRetainedException;
import io.sqlstreams.internal.partition.Partitions;
import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Instants;
import io.sqlstreams.internal.sql.Scope;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Finds the id after which a group reads that is to begin at some place. Thread-safe. */
public final class Positions {
  /**
   * How much later than its neighbours a message may have been written: a transaction that draws
   * its ids first and then writes takes that long at most.
   */
  static final int MARGIN_MINUTES = 10;

  private final Scope system;
  private final Partitions partitions;

  /**
   * @param system the installation
   */
  public Positions(Scope system, Partitions partitions) {
    this.system = system;
    this.partitions = partitions;
  }

  /**
   * Where a new group stands. One that begins with the beginning stands where retention has come
   * to, or at 0: what was dropped by others it passes by proof, as any other gap.
   *
   * @throws InvalidInputException when it is an id above the newest visible one
   * @throws NotRetainedException when messages above the place are dropped already
   */
  public long ofNewGroup(Connection connection, StreamInfo stream, Start start)
      throws SQLException {
    if (start == Start.BEGINNING) {
      return partitions.announcedFloor(connection, stream);
    }
    Edges edges = edges(connection, stream);
    if (start instanceof Start.After after && after.messageId() > edges.newest()) {
      throw new InvalidInputException(
          "start",
          "id "
              + after.messageId()
              + " is above the newest message's, "
              + edges.newest()
              + ": use Start.head() to begin with the next one");
    }
    return find(connection, stream, start, edges);
  }

  /**
   * The id after which everything of this place follows, as the connection sees the log now.
   *
   * @throws NotRetainedException when messages above the place are dropped already
   */
  public long find(Connection connection, StreamInfo stream, Start start) throws SQLException {
    return find(connection, stream, start, edges(connection, stream));
  }

  /**
   * Sees to it that what lies above the place of a new group isn't given up before its cursor is
   * there. Before {@link #retained}, in the transaction that writes the cursor.
   */
  public void hold(Connection connection, StreamInfo stream) throws SQLException {
    partitions.holdFloor(connection, stream);
  }

  /**
   * Looks again whether everything above a place that was found is still there.
   *
   * @return the place; of the beginning, where it is by now
   * @throws NotRetainedException when it was dropped or given up meanwhile; of the beginning that
   *     is no loss
   */
  public long retained(Connection connection, StreamInfo stream, Start start, long position)
      throws SQLException {
    if (start == Start.BEGINNING) {
      return Math.max(position, partitions.announcedFloor(connection, stream));
    }
    long floor = partitions.floor(connection, stream);
    if (position < floor) {
      throw new NotRetainedException(stream.name(), position, floor + 1);
    }
    return position;
  }

  private long find(Connection connection, StreamInfo stream, Start start, Edges edges)
      throws SQLException {
    if (start instanceof Start.At at) {
      return before(connection, stream, at.instant(), edges);
    }
    if (start instanceof Start.After after) {
      if (after.messageId() < edges.floor()) {
        throw new NotRetainedException(stream.name(), after.messageId(), edges.floor() + 1);
      }
      return after.messageId();
    }
    return start == Start.HEAD ? edges.newest() : edges.floor();
  }

  private long before(Connection connection, StreamInfo stream, Instant instant, Edges edges)
      throws SQLException {
    boolean dropped = edges.floor() > 0;
    Instant oldest = edges.oldestAt() == null ? edges.now() : edges.oldestAt();
    if (dropped && instant.isBefore(oldest)) {
      throw new NotRetainedException(stream.name(), instant, edges.oldestAt(), edges.floor() + 1);
    }
    try (Call call = PositionSql.FIRST_AT.in(system.stream(stream.id())).on(connection)) {
      ResultSet row =
          call.set("instant", instant)
              .set("margin_minutes", MARGIN_MINUTES)
              .set("floor", edges.floor())
              .set("newest_id", edges.newest())
              .query();
      return row.next() ? row.getLong("id") - 1 : edges.newest();
    }
  }

  private Edges edges(Connection connection, StreamInfo stream) throws SQLException {
    long floor = partitions.floor(connection, stream);
    try (Call call = PositionSql.EDGES.in(system.stream(stream.id())).on(connection)) {
      ResultSet row = call.set("floor", floor).query();
      row.next();
      return new Edges(
          floor,
          Math.max(floor, row.getLong("newest_id")),
          Instants.orNull(row, "oldest_at"),
          Instants.of(row, "now"));
    }
  }

  /**
   * The ends of a log.
   *
   * @param floor the id above which it begins
   * @param newest the newest visible id; the floor when there is none
   * @param oldestAt when the oldest message was produced; null when there is none
   * @param now the database's clock
   */
  private record Edges(long floor, long newest, @Nullable Instant oldestAt, Instant now) {}
}
