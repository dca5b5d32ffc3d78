package io.sqlstreams.internal.upkeep;

import io.sqlstreams.StreamInfo;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.error.ErrorCode;
import io.sqlstreams.error.NotInstalledException;
import io.sqlstreams.internal.head.Heads;
import io.sqlstreams.internal.partition.Slice;
import io.sqlstreams.internal.partition.Slices;
import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.sql.Template;
import java.sql.Array;
import java.sql.ResultSet;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes the partitions of a log away whose time is over, the lowest first: announces it, forgets
 * the compaction heads among their messages, takes the partition off, drops it. Each step is
 * durable, and whoever comes next goes on behind it. Thread-safe.
 */
final class Retention {
  private static final Logger log = LoggerFactory.getLogger(Retention.class);
  private static final Duration LONGEST_WAIT = Duration.ofMinutes(5);

  /** What is to expire later is known; that it is declared anew, a survey shows. */
  private static final Duration LONGEST_LOOK = Duration.ofHours(1);

  private static final int LOOKS_AT_ONCE = 20;
  private static final int LOOK_PAUSE_MILLIS = 10;
  private static final Duration LONGEST_REMOVAL_PAUSE = Duration.ofSeconds(30);
  private static final int REMOVALS_BEFORE_ALERT = 3;
  private static final Duration SHORTEST_WAIT = Duration.ofSeconds(1);

  private final Database database;
  private final Scope system;
  private final Slices slices;
  private final Heads heads;
  private final Announcer announcer;

  Retention(Database database, Scope system, Slices slices, Heads heads) {
    this.database = database;
    this.system = system;
    this.slices = slices;
    this.heads = heads;
    this.announcer = new Announcer(database, system);
  }

  /**
   * The newest message of a partition.
   *
   * @param id its id
   * @param leftMicros for how long it is kept yet; 0 or less: its time is over
   */
  private record Newest(long id, long leftMicros) {}

  /**
   * Does what is due, and lets the memory know when to come again.
   *
   * @return the floor by now
   */
  long turn(Survey survey, Memory memory, Tally tally) {
    try {
      return takeAway(survey, memory, tally);
    } catch (NotInstalledException e) {
      // somebody else has dropped the partition, or the stream
      log.debug("a table of stream \"{}\" is gone", survey.stream().name(), e);
      memory.retention.in(SHORTEST_WAIT);
      return survey.floor();
    }
  }

  private long takeAway(Survey survey, Memory memory, Tally tally) {
    Deque<Slice> left = new ArrayDeque<>(survey.slices());
    long floor = survey.floor();
    while (!left.isEmpty() && tally.goesOn()) {
      Slice lowest = left.element();
      if (lowest.lastId() > floor) {
        if (!expire(survey, lowest, left.size() > 1, memory)) {
          return floor;
        }
        floor = lowest.lastId();
        memory.gaveUp();
      }
      if (!remove(survey.stream(), lowest, floor)) {
        memory.retentionIsHeld(LONGEST_REMOVAL_PAUSE);
        if (memory.removalFailed() >= REMOVALS_BEFORE_ALERT) {
          throw stuck(survey.stream(), lowest);
        }
        return floor;
      }
      tally.dropped();
      left.remove();
      memory.removed();
    }
    memory.retention.in(SHORTEST_WAIT);
    return floor;
  }

  /** Whether its messages are given up now; else the memory knows when to ask again. */
  private boolean expire(Survey survey, Slice slice, boolean hasNext, Memory memory) {
    StreamInfo stream = survey.stream();
    @Nullable Duration retention = stream.config().retention();
    if (retention == null) {
      // asked again when it is declared anew
      memory.retention.in(LONGEST_LOOK);
      return false;
    }
    boolean isPassed = survey.lastId() >= slice.lastId();
    Optional<Newest> newest = newest(stream, RetentionSql.NEWEST, slice, retention);
    // an empty one that is passed has nothing to keep; what comes into another is kept from then on
    long left = newest.map(Newest::leftMicros).orElse(isPassed ? 0 : retention.toNanos() / 1_000);
    if (left > 0 || !isPassed && !hasNext) {
      memory.retention.in(left, SHORTEST_WAIT, LONGEST_LOOK);
      return false;
    }
    long last = newest.map(Newest::id).orElse(0L);
    if (!stream.config().allowDropPastCommitted() && last > 0) {
      List<String> behind = behind(stream, last);
      if (!behind.isEmpty()) {
        held(stream, slice, behind, memory);
        return false;
      }
    }
    if (!isPassed) {
      // a quiet stream: the ids that are left here are passed, so that no message comes here any
      // more
      if (!slices.passIds(stream.id(), slice.lastId())) {
        memory.retentionIsHeld(LONGEST_WAIT);
        return false;
      }
    }
    return announce(
        stream, slice, Math.max(survey.lastId(), isPassed ? 0 : slice.lastId()), memory);
  }

  private boolean announce(StreamInfo stream, Slice slice, long drawn, Memory memory) {
    if (!isSettled(stream, slice, drawn, memory)) {
      memory.retention.in(SHORTEST_WAIT);
      return false;
    }
    // from here on no message comes or goes, so what is looked at stays as it is
    @Nullable Duration retention = stream.config().retention();
    if (retention == null) {
      return false;
    }
    Optional<Newest> byTime = newest(stream, RetentionSql.NEWEST_BY_TIME, slice, retention);
    long left = byTime.map(Newest::leftMicros).orElse(0L);
    if (left > 0) {
      memory.retention.in(left, SHORTEST_WAIT, LONGEST_LOOK);
      return false;
    }
    Announcer.Result result =
        announcer.announce(
            stream, slice.lastId(), byTime.map(Newest::id).orElse(0L), memory.settlement.server());
    if (!result.held().isEmpty()) {
      held(stream, slice, result.held(), memory);
    } else if (!result.isMade()) {
      memory.retentionIsHeld(LONGEST_WAIT);
    }
    return result.isMade();
  }

  private static void held(StreamInfo stream, Slice slice, List<String> groups, Memory memory) {
    log.debug(
        "stream \"{}\" keeps messages up to id {} though their time is over: {} not read them all",
        stream.name(),
        slice.lastId(),
        groups);
    memory.retentionIsHeld(LONGEST_WAIT);
  }

  /** Whether the partition is gone; it is given up by now. */
  private boolean remove(StreamInfo stream, Slice slice, long floor) {
    // a head without its message would keep newer messages of its key from being delivered
    if (!slice.isDetaching() && heads.forget(stream, floor) < 0) {
      return false;
    }
    if (!slices.takeOff(slice)) {
      return false;
    }
    if (slices.drop(slice)) {
      log.info(
          "stream \"{}\": the partition of ids {} to {} is dropped, its time is over",
          stream.name(),
          slice.firstId(),
          slice.lastId());
    }
    // else it is left behind, and found there
    return true;
  }

  private static DatabaseException stuck(StreamInfo stream, Slice slice) {
    return new DatabaseException(
        ErrorCode.CONTENTION,
        "stream \""
            + stream.name()
            + "\": the partition of ids "
            + slice.firstId()
            + " to "
            + slice.lastId()
            + " is given up, but a transaction that has used the log, or has locked a key of it, keeps it from being"
            + " taken off: end that transaction (pg_stat_activity shows the oldest)",
        null,
        null);
  }

  /** The groups that hold a partition back, by name. */
  List<String> behind(StreamInfo stream, long newest) {
    return database.autoCommitted(
        what(stream),
        connection -> {
          List<String> behind = new ArrayList<>();
          try (Call call =
              RetentionSql.BEHIND.asTransaction(system.stream(stream.id())).on(connection)) {
            ResultSet row = call.set("newest", newest).query();
            while (row.next()) {
              behind.add(row.getString("name"));
            }
          }
          return behind;
        });
  }

  /**
   * Whether no message of this partition is still to come. Writers are many perhaps, but short; who
   * has no next turn waits a moment for those that were there first.
   */
  private boolean isSettled(StreamInfo stream, Slice slice, long drawn, Memory memory) {
    look(stream, drawn, memory.settlement);
    for (int i = 1;
        i < LOOKS_AT_ONCE && memory.isEager() && !memory.settlement.isSettled(slice.lastId());
        i++) {
      try {
        Thread.sleep(LOOK_PAUSE_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return false;
      }
      look(stream, drawn, memory.settlement);
    }
    return memory.settlement.isSettled(slice.lastId());
  }

  private void look(StreamInfo stream, long drawn, Settlement settlement) {
    Scope scope = system.stream(stream.id());
    database.autoCommitted(
        what(stream),
        connection -> {
          try (Call call = RetentionSql.WRITERS.asTransaction(scope).on(connection)) {
            ResultSet row = call.set("message_log", scope.messageLog()).query();
            row.next();
            @Nullable Array writers = row.getArray("writers");
            settlement.looked(
                row.getString("server"),
                drawn,
                writers == null ? Set.of() : Set.of((String[]) writers.getArray()));
            return true;
          }
        });
  }

  /** Empty: the partition is. */
  private Optional<Newest> newest(
      StreamInfo stream, Template template, Slice slice, Duration retention) {
    return database.autoCommitted(
        what(stream),
        connection -> {
          try (Call call =
              template.withPart("partition", slice.name()).asTransaction(system).on(connection)) {
            ResultSet row = call.set("retention_us", retention.toNanos() / 1_000).query();
            if (!row.next()) {
              return Optional.empty();
            }
            double left = row.getDouble("left_us");
            return row.wasNull()
                ? Optional.empty()
                : Optional.of(new Newest(row.getLong("id"), (long) left));
          }
        });
  }

  /**
   * For how long the messages of this partition are kept yet.
   *
   * @return microseconds, 0 or less when their time is over; empty when it holds none, or they are
   *     kept for ever
   */
  OptionalLong leftMicros(StreamInfo stream, Slice slice) {
    @Nullable Duration retention = stream.config().retention();
    return retention == null
        ? OptionalLong.empty()
        : newest(stream, RetentionSql.NEWEST, slice, retention).stream()
            .mapToLong(Newest::leftMicros)
            .findFirst();
  }

  /** The highest id of a message in this partition; 0 when it holds none. */
  long newestId(StreamInfo stream, Slice slice) {
    return newest(stream, RetentionSql.NEWEST, slice, StreamConfig.SWEEP_INTERVAL)
        .map(Newest::id)
        .orElse(0L);
  }

  private static String what(StreamInfo stream) {
    return "look at what stream \"" + stream.name() + "\" keeps";
  }
}
