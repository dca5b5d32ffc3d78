package io.sqlstreams.internal.partition;

import io.sqlstreams.StreamInfo;
import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.error.ErrorCode;
import io.sqlstreams.internal.schema.PatientTransaction;
import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.sql.SqlWork;
import io.sqlstreams.internal.sql.Template;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Creates the partitions of the logs. Partition {@code k} of a stream holds the ids from {@code k *
 * size + 1} to {@code (k + 1) * size}. Readers and writers of the stream are never in the way, nor
 * are they held up. Thread-safe.
 */
public final class Partitions {
  /**
   * A gap of more partitions than this isn't filled: the ids jumped, and only where they arrived
   * are rows to come.
   */
  private static final long MOST_TO_FILL = 1_000;

  /**
   * How many come in one transaction: each keeps about six locks, and the server's table of locks
   * has an end.
   */
  private static final int BATCH = 16;

  private final Database database;
  private final Scope system;

  /**
   * @param system the installation
   */
  public Partitions(Database database, Scope system) {
    this.database = database;
    this.system = system;
  }

  /** The number of the partition that holds this id. */
  public static long numberOf(long id, long partitionSize) {
    return (id - 1) / partitionSize;
  }

  /**
   * Sees to it that the partition of this id exists, every one between the last existing and it,
   * and the next one. In transactions of its own; does nothing when all are there. Safe when many
   * processes do it at once.
   *
   * @param id a message id of the stream, above 0
   * @throws DatabaseException when this role may not create them, or a lock was in the way for too
   *     long
   */
  public void ensureThrough(StreamInfo stream, long id) {
    ensure(
        stream,
        id,
        (what, scope, work) ->
            PatientTransaction.run(database, what, PartitionSql.LOCK.in(scope), work));
  }

  /**
   * The same for the upkeep, ahead of need: it gives up at the first lock in its way, and comes
   * again.
   *
   * @return how many there are more
   * @throws DatabaseException when this role may not create them, or a lock was in the way
   */
  public int ensureAhead(StreamInfo stream, long id) {
    return ensure(
        stream,
        id,
        (what, scope, work) ->
            database.inTransaction(
                what,
                connection -> {
                  PartitionSql.LOCK_BRIEFLY.in(scope).run(connection);
                  return work.with(connection);
                }));
  }

  /** A transaction that makes partitions, one at a time for each stream. */
  private interface Making {
    int run(String what, Scope scope, SqlWork<Integer> work);
  }

  private int ensure(StreamInfo stream, long id, Making making) {
    String what = "create partitions of stream \"" + stream.name() + "\"";
    Scope scope = system.stream(stream.id());
    long size = stream.config().partitionSize();
    try {
      return ensure(what, scope, size, id, making);
    } catch (DatabaseException e) {
      if (e.code() == ErrorCode.PERMISSION_DENIED) {
        throw notAllowed(scope, numberOf(id, size), e);
      }
      throw e;
    }
  }

  /**
   * Nobody waits for another process to do it: that may never come, and the partitions of a stream
   * that is kept in order are there long before.
   */
  private static DatabaseException notAllowed(Scope scope, long number, DatabaseException e) {
    return new DatabaseException(
        ErrorCode.PERMISSION_DENIED,
        e.getMessage()
            + ". Partition "
            + scope.messageLog()
            + "_"
            + number
            + " is missing: run client.manager().run() as a role that 'sqlstreams system grants --role maintenance'"
            + " was run for, which creates the partitions ahead",
        e.sqlState(),
        e);
  }

  private int ensure(String what, Scope scope, long size, long id, Making making) {
    if (database.autoCommitted(what, c -> missing(c, scope, size, id).isEmpty())) {
      return 0;
    }
    int all = 0;
    int some;
    do {
      some =
          making.run(
              what,
              scope,
              connection -> create(connection, scope, size, missing(connection, scope, size, id)));
      all += some;
    } while (some == BATCH);
    return all;
  }

  /**
   * The id above which the stream's log begins: 0, or where the lowest partition begins when those
   * below it were dropped.
   */
  public long floor(Connection connection, StreamInfo stream) throws SQLException {
    try (Call call = PartitionSql.FLOOR.in(system.stream(stream.id())).on(connection)) {
      ResultSet row = call.set("partition_size", stream.config().partitionSize()).query();
      row.next();
      return row.getLong("floor");
    }
  }

  /**
   * The id up to which retention has given the messages up, or is about to: whoever begins a group
   * above it in the connection's transaction keeps what lies above from being given up before the
   * group is seen.
   */
  public long holdFloor(Connection connection, StreamInfo stream) throws SQLException {
    return announced(connection, PartitionSql.HOLD_FLOOR, stream);
  }

  /** The same without keeping it where it is. */
  public long announcedFloor(Connection connection, StreamInfo stream) throws SQLException {
    return announced(connection, PartitionSql.ANNOUNCED_FLOOR, stream);
  }

  private long announced(Connection connection, Template query, StreamInfo stream)
      throws SQLException {
    try (Call call = query.in(system.stream(stream.id())).on(connection)) {
      ResultSet row = call.query();
      return row.next() ? row.getLong("floor") : 0;
    }
  }

  /** Creates the first two partitions of a new stream, in the caller's transaction. */
  public void createFirst(Connection connection, long streamId, long partitionSize)
      throws SQLException {
    create(connection, system.stream(streamId), partitionSize, List.of(0L, 1L));
  }

  /**
   * Drops what was detached from a stream's log and not dropped yet, in the caller's transaction.
   * It still uses the log's sequence, so the log can't be dropped before.
   */
  public void dropDetached(Connection connection, long streamId) throws SQLException {
    Scope scope = system.stream(streamId);
    for (long number : numbers(connection, PartitionSql.DETACHED, scope)) {
      PartitionSql.DROP.withNumber("number", number).in(scope).run(connection);
    }
  }

  private SortedSet<Long> missing(Connection connection, Scope scope, long size, long id)
      throws SQLException {
    List<Slice> attached = Slices.read(connection, system, List.of(scope.streamId()));
    long target = numberOf(id, size);
    long last =
        attached.stream()
            .mapToLong(slice -> numberOf(slice.lastId(), size))
            .max()
            .orElse(target - 1);
    SortedSet<Long> wanted = new TreeSet<>();
    // the id's own may lie below the last: its writer was slow, or the ids jumped over it
    wanted.add(target);
    if (target < numberOf(Long.MAX_VALUE, size)) {
      wanted.add(target + 1);
    }
    for (long number = last + 1; number < target && target - last <= MOST_TO_FILL; number++) {
      wanted.add(number);
    }
    // somebody may have made one of other bounds, and of any name
    wanted.removeIf(number -> attached.stream().anyMatch(slice -> overlap(slice, number, size)));
    return wanted;
  }

  private static boolean overlap(Slice slice, long number, long size) {
    long low = number * size + 1;
    long high = low > Long.MAX_VALUE - size ? Long.MAX_VALUE : low + size - 1;
    return slice.firstId() <= high && low <= slice.lastId();
  }

  /** Creates the first ones of these, and says how many. */
  private static int create(Connection connection, Scope scope, long size, Iterable<Long> missing)
      throws SQLException {
    int created = 0;
    for (long number : missing) {
      if (created == BATCH) {
        return created;
      }
      long low = number * size + 1;
      PartitionSql.CREATE
          .withNumber("number", number)
          .withNumber("low", low)
          .withNumber("high", low > Long.MAX_VALUE - size ? Long.MAX_VALUE : low + size)
          .in(scope)
          .run(connection);
      created++;
    }
    return created;
  }

  private static Set<Long> numbers(Connection connection, Template query, Scope scope)
      throws SQLException {
    Set<Long> numbers = new HashSet<>();
    try (Call call = query.in(scope).on(connection);
        ResultSet row = call.query()) {
      while (row.next()) {
        numbers.add(row.getLong("number"));
      }
    }
    return numbers;
  }
}
