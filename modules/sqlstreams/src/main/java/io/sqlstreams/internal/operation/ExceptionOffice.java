package io.sqlstreams.internal.operation;

import io.sqlstreams.ExceptionInfo;
import io.sqlstreams.GroupInfo;
import io.sqlstreams.StreamInfo;
import io.sqlstreams.config.DeliveryLogMode;
import io.sqlstreams.config.ExceptionFilter;
import io.sqlstreams.config.ExceptionStatus;
import io.sqlstreams.config.Page;
import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.error.GroupNotFoundException;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.internal.document.FilterDocument;
import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Instants;
import io.sqlstreams.internal.sql.Scope;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.LongConsumer;

/** Exception queues as an operator sees and changes them. Thread-safe. */
public final class ExceptionOffice {
  /** The longest transaction: what it locks, others wait for. */
  static final int BATCH = 1_000;

  private static final Set<ExceptionStatus> REDRIVABLE = EnumSet.of(ExceptionStatus.DEAD);

  private static final Set<ExceptionStatus> DISCARDABLE =
      EnumSet.of(ExceptionStatus.READY, ExceptionStatus.DEFERRED, ExceptionStatus.DEAD);

  private final Database database;
  private final Scope system;
  private final LongConsumer wake;

  /**
   * @param system the installation
   * @param wake is given the id of a stream of which a queue was changed
   */
  public ExceptionOffice(Database database, Scope system, LongConsumer wake) {
    this.database = database;
    this.system = system;
    this.wake = wake;
  }

  /** A page of the queue. */
  public List<ExceptionInfo> list(
      StreamInfo stream, GroupInfo group, ExceptionFilter filter, Page page) {
    return database.autoCommitted(
        "listing exceptions of " + subject(stream, group),
        connection -> {
          try (Call call = QueueSql.LIST.asLook(system.stream(stream.id())).on(connection)) {
            bind(call, group, filter, page.afterId(), page.limit());
            ResultSet row = call.setArray("statuses", "text", names(filter.statuses())).query();
            List<ExceptionInfo> exceptions = new ArrayList<>();
            while (row.next()) {
              exceptions.add(read(row));
            }
            return exceptions;
          }
        });
  }

  /**
   * Makes dead messages ready again.
   *
   * @throws InvalidInputException when the limit is below 1, or the filter excludes them
   * @throws GroupNotFoundException when the group was destroyed meanwhile
   */
  public long redrive(StreamInfo stream, GroupInfo group, ExceptionFilter filter, int limit) {
    requireAny(filter, REDRIVABLE, "redriven");
    return inBatches(
        limit,
        stream,
        (after, most) ->
            database.inTransaction(
                "redriving exceptions of " + subject(stream, group),
                connection -> redrive(connection, stream, group, filter, after, most)));
  }

  /**
   * Removes messages that nobody is at.
   *
   * @throws InvalidInputException when the limit is below 1, or the filter excludes them
   */
  public long discard(StreamInfo stream, GroupInfo group, ExceptionFilter filter, int limit) {
    requireAny(filter, DISCARDABLE, "discarded");
    return inBatches(
        limit,
        stream,
        (after, most) ->
            database.inTransaction(
                "discarding exceptions of " + subject(stream, group),
                connection -> discard(connection, stream, group, filter, after, most)));
  }

  private Met redrive(
      Connection connection,
      StreamInfo stream,
      GroupInfo group,
      ExceptionFilter filter,
      long after,
      int most)
      throws SQLException {
    Scope scope = system.stream(stream.id());
    try (Call call = RewindSql.TOUCH.in(scope).on(connection)) {
      call.set("group", group.id()).update();
    }
    // before the rows: redrives take turns, and none waits for a row while it holds the cursor
    try (Call call = RewindSql.LOCK_CURSOR.in(scope).on(connection)) {
      if (!call.set("group", group.id()).query().next()) {
        throw new GroupNotFoundException(stream.name(), group.name());
      }
    }
    try (Call call = QueueSql.REDRIVE.in(scope).on(connection)) {
      bind(call, group, filter, after, most);
      return Met.read(call.set("filter", FilterDocument.write(filter)).query());
    }
  }

  private Met discard(
      Connection connection,
      StreamInfo stream,
      GroupInfo group,
      ExceptionFilter filter,
      long after,
      int most)
      throws SQLException {
    Set<ExceptionStatus> statuses = EnumSet.copyOf(DISCARDABLE);
    statuses.retainAll(filter.statuses());
    boolean log = group.config().deliveryLog() != DeliveryLogMode.OFF;
    try (Call call = QueueSql.DISCARD.in(system.stream(stream.id())).on(connection)) {
      bind(call, group, filter, after, most);
      call.setArray("statuses", "text", names(statuses))
          .set("log_deliveries", log)
          .set("filter", FilterDocument.write(filter));
      return Met.read(call.query());
    }
  }

  /**
   * Runs one transaction after the other, until one finds fewer than it may take, or the thread is
   * interrupted. That also makes a pool refuse its connections, and ends the wait for one.
   */
  private long inBatches(int limit, StreamInfo stream, Batch batch) {
    if (limit < 1) {
      throw new InvalidInputException("limit", "must be 1 or above, not " + limit);
    }
    long done = 0;
    long after = 0;
    while (done < limit && !Thread.currentThread().isInterrupted()) {
      int most = (int) Math.min(BATCH, limit - done);
      Met met;
      try {
        met = batch.run(after, most);
      } catch (DatabaseException e) {
        if (Thread.currentThread().isInterrupted()) {
          return done;
        }
        throw e;
      }
      if (met.messages() > 0) {
        wake.accept(stream.id());
      }
      done += met.messages();
      after = met.lastId();
      if (met.messages() < most) {
        return done;
      }
    }
    return done;
  }

  private static void requireAny(
      ExceptionFilter filter, Set<ExceptionStatus> possible, String verb) {
    if (filter.statuses().stream().noneMatch(possible::contains)) {
      throw new InvalidInputException(
          "statuses",
          "are " + filter.statuses() + ", but only messages of " + possible + " can be " + verb);
    }
  }

  private static void bind(Call call, GroupInfo group, ExceptionFilter filter, long after, int most)
      throws SQLException {
    call.set("group", group.id())
        .set("after", Math.max(after, filter.firstId() - 1))
        .set("last_id", filter.lastId())
        .set("message_key", filter.messageKey())
        .set("error_contains", filter.errorContains())
        .set("created_from", filter.createdFrom())
        .set("created_before", filter.createdBefore())
        .set("most", most);
  }

  private static Object[] names(Set<ExceptionStatus> statuses) {
    return statuses.stream().map(ExceptionStatus::sqlName).toArray();
  }

  private static ExceptionInfo read(ResultSet row) throws SQLException {
    return new ExceptionInfo(
        row.getLong("message_id"),
        ExceptionStatus.valueOf(row.getString("status").toUpperCase(Locale.ROOT)),
        row.getString("message_key"),
        row.getInt("attempts"),
        row.getInt("delays"),
        Instants.of(row, "can_run_after"),
        row.getString("last_error"),
        Instants.of(row, "created_at"),
        Instants.of(row, "updated_at"));
  }

  private static String subject(StreamInfo stream, GroupInfo group) {
    return "group \"" + group.name() + "\" of stream \"" + stream.name() + "\"";
  }

  @FunctionalInterface
  private interface Batch {
    Met run(long after, int most);
  }

  /**
   * What one transaction met.
   *
   * @param lastId the highest id; 0 when there was none
   */
  private record Met(long messages, long lastId) {
    static Met read(ResultSet row) throws SQLException {
      row.next();
      return new Met(row.getLong("messages"), row.getLong("last_id"));
    }
  }
}
