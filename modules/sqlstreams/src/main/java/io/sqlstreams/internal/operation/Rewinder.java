package io.sqlstreams.internal.operation;

import io.sqlstreams.GroupInfo;
import io.sqlstreams.Rewind;
import io.sqlstreams.StreamInfo;
import io.sqlstreams.config.DeliveryLogMode;
import io.sqlstreams.config.Start;
import io.sqlstreams.error.GroupNotFoundException;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.error.NotRetainedException;
import io.sqlstreams.internal.position.Positions;
import io.sqlstreams.internal.schema.PatientTransaction;
import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.sql.Template;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Moves groups back. Thread-safe. */
public final class Rewinder {
  private static final Logger log = LoggerFactory.getLogger(Rewinder.class);

  private final Database database;
  private final Scope system;
  private final Positions positions;
  private final LongConsumer wake;

  /**
   * @param system the installation
   * @param wake is given the id of a stream of which a group was moved
   */
  public Rewinder(Database database, Scope system, Positions positions, LongConsumer wake) {
    this.database = database;
    this.system = system;
    this.positions = positions;
    this.wake = wake;
  }

  /**
   * What {@link #rewind} would do.
   *
   * @throws InvalidInputException when the place is above where the group stands
   * @throws NotRetainedException when messages after the place are dropped already
   * @throws GroupNotFoundException when the group was destroyed meanwhile
   */
  public Rewind preview(StreamInfo stream, GroupInfo group, Start start) {
    return database.autoCommitted(
        "previewing a rewind of " + subject(stream, group),
        connection -> {
          Window window = look(connection, stream, group, start);
          return result(window, countExceptions(connection, stream, group, window.low()));
        });
  }

  /**
   * Moves the group back and wakes who consumes for it.
   *
   * @throws InvalidInputException when the place is above where the group stands
   * @throws NotRetainedException when messages after the place are dropped already
   * @throws GroupNotFoundException when the group was destroyed meanwhile
   */
  public Rewind rewind(StreamInfo stream, GroupInfo group, Start start) {
    String what = "rewinding " + subject(stream, group);
    // the log is walked over without a lock; what was claimed since is added under it
    Window seen =
        database.autoCommitted(what, connection -> look(connection, stream, group, start));
    Rewind rewind =
        PatientTransaction.run(
            database,
            what,
            RewindSql.LOCK.in(system.stream(stream.id())),
            connection -> rewind(connection, stream, group, start, seen));
    log.info(
        "{} was rewound from id {} to {}, start {}: {} messages are delivered again",
        subject(stream, group),
        rewind.claimedBefore(),
        rewind.position(),
        start,
        rewind.messages());
    wake.accept(stream.id());
    return rewind;
  }

  private Window look(Connection connection, StreamInfo stream, GroupInfo group, Start start)
      throws SQLException {
    long claimed = claimed(connection, RewindSql.CLAIMED, stream, group);
    long found = positions.find(connection, stream, start);
    return window(connection, stream, group, position(start, found, claimed), claimed);
  }

  private Rewind rewind(
      Connection connection, StreamInfo stream, GroupInfo group, Start start, Window seen)
      throws SQLException {
    try (Call call = on(connection, RewindSql.TOUCH, stream)) {
      call.set("group", group.id()).update();
    }
    long claimed = claimed(connection, RewindSql.LOCK_CURSOR, stream, group);
    // what retention gives up later, it gives up for where the group stands then
    long found = positions.retained(connection, stream, start, seen.low());
    long position = position(start, found, claimed);
    Window window = upTo(connection, stream, group, seen, position, claimed);
    long leases = endLeases(connection, stream, group, position);
    Exceptions exceptions = supersede(connection, stream, group, position);
    moveBack(connection, stream, group, position);
    Rewind rewind = result(window, exceptions);
    note(connection, stream, group, start, rewind, leases);
    return rewind;
  }

  /**
   * @throws InvalidInputException when it is above where the group stands; the beginning can't be,
   *     but the messages that follow it may be dropped: then the group stays where it is
   */
  private static long position(Start start, long found, long claimed) {
    if (start == Start.BEGINNING) {
      return Math.min(found, claimed);
    }
    if (found > claimed) {
      throw new InvalidInputException(
          "start",
          start
              + " is after id "
              + found
              + ", and the group stands at id "
              + claimed
              + ": a group can be moved back alone, so choose a place at or below that");
    }
    return found;
  }

  /** The window up to here, of which most or all was looked at before. */
  private Window upTo(
      Connection connection,
      StreamInfo stream,
      GroupInfo group,
      Window seen,
      long position,
      long claimed)
      throws SQLException {
    if (position != seen.low() || claimed < seen.high()) {
      // somebody else has rewound the group meanwhile
      return window(connection, stream, group, position, claimed);
    }
    return claimed == seen.high()
        ? seen
        : seen.plus(window(connection, stream, group, seen.high(), claimed));
  }

  private long claimed(Connection connection, Template template, StreamInfo stream, GroupInfo group)
      throws SQLException {
    try (Call call = on(connection, template, stream)) {
      ResultSet row = call.set("group", group.id()).query();
      if (!row.next()) {
        throw new GroupNotFoundException(stream.name(), group.name());
      }
      return row.getLong("claimed");
    }
  }

  private Window window(
      Connection connection, StreamInfo stream, GroupInfo group, long low, long high)
      throws SQLException {
    try (Call call = on(connection, RewindSql.WINDOW, stream)) {
      ResultSet row = call.set("group", group.id()).set("low", low).set("high", high).query();
      row.next();
      return Window.read(low, high, row);
    }
  }

  private Exceptions countExceptions(
      Connection connection, StreamInfo stream, GroupInfo group, long position)
      throws SQLException {
    try (Call call = on(connection, RewindSql.COUNT_EXCEPTIONS, stream)) {
      return Exceptions.read(call.set("group", group.id()).set("position", position).query());
    }
  }

  private long endLeases(Connection connection, StreamInfo stream, GroupInfo group, long position)
      throws SQLException {
    try (Call call = on(connection, RewindSql.END_LEASES, stream)) {
      ResultSet row = call.set("group", group.id()).set("position", position).query();
      row.next();
      return row.getLong("leases");
    }
  }

  private Exceptions supersede(
      Connection connection, StreamInfo stream, GroupInfo group, long position)
      throws SQLException {
    boolean log = group.config().deliveryLog() != DeliveryLogMode.OFF;
    try (Call call = on(connection, RewindSql.SUPERSEDE, stream)) {
      call.set("group", group.id()).set("position", position).set("log_deliveries", log);
      return Exceptions.read(call.query());
    }
  }

  private void moveBack(Connection connection, StreamInfo stream, GroupInfo group, long position)
      throws SQLException {
    try (Call call = on(connection, RewindSql.MOVE_BACK, stream)) {
      call.set("group", group.id()).set("position", position).update();
    }
  }

  private void note(
      Connection connection,
      StreamInfo stream,
      GroupInfo group,
      Start start,
      Rewind rewind,
      long leases)
      throws SQLException {
    try (Call call = on(connection, RewindSql.NOTE, stream)) {
      call.set("group", group.id())
          .set("start", start.toString())
          .set("claimed_before", rewind.claimedBefore())
          .set("position", rewind.position())
          .set("messages", rewind.messages())
          .set("leases", leases)
          .set("open_exceptions", rewind.openExceptions())
          .set("dead_exceptions", rewind.deadExceptions())
          .update();
    }
  }

  private Call on(Connection connection, Template template, StreamInfo stream) throws SQLException {
    return template.in(system.stream(stream.id())).on(connection);
  }

  private static Rewind result(Window window, Exceptions exceptions) {
    Window.@Nullable Mark first = window.first();
    Window.@Nullable Mark last = window.last();
    return new Rewind(
        window.high(),
        window.low(),
        window.messages(),
        first == null ? null : first.id(),
        last == null ? null : last.id(),
        first == null ? null : first.createdAt(),
        last == null ? null : last.createdAt(),
        exceptions.open(),
        exceptions.dead());
  }

  private static String subject(StreamInfo stream, GroupInfo group) {
    return "group \"" + group.name() + "\" of stream \"" + stream.name() + "\"";
  }

  private record Exceptions(long open, long dead) {
    static Exceptions read(ResultSet row) throws SQLException {
      row.next();
      return new Exceptions(row.getLong("open"), row.getLong("dead"));
    }
  }
}
