package io.sqlstreams.internal.upkeep;

import io.sqlstreams.StreamInfo;
import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.sql.Template;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Announces that the messages up to some id are given up, before any of them goes. The announcement
 * is one transaction, under the locks of the groups' cursors: so whoever is rewound, redriven or
 * registered comes before it and is asked, or after it and knows the floor. Thread-safe.
 */
final class Announcer {
  private static final Logger log = LoggerFactory.getLogger(Announcer.class);

  private final Database database;
  private final Scope system;

  Announcer(Database database, Scope system) {
    this.database = database;
    this.system = system;
  }

  /**
   * How an announcement ended.
   *
   * @param isMade whether it was made
   * @param held the groups that have not come past, when that was the reason why not
   * @param losses what the groups lose
   */
  record Result(boolean isMade, List<String> held, List<Loss> losses) {
    private static final Result NOT_NOW = new Result(false, List.of(), List.of());
  }

  /** What there is for a group to lose that it has not claimed. */
  private record Unclaimed(long messages, long firstId, long lastId) {}

  /**
   * Raises the floor, if that may be.
   *
   * @param newest the highest id of a message at or below the new floor; 0 when there is none. All
   *     up to the floor are settled, and their time is over
   * @param server the server which showed that
   */
  Result announce(StreamInfo stream, long floor, long newest, String server) {
    boolean mayLose = stream.config().allowDropPastCommitted();
    // it may take a while, and the messages don't change: so not under the locks
    Map<GroupStanding, Unclaimed> counted =
        mayLose ? countUnclaimed(stream, floor, newest) : Map.of();
    Result result =
        database.inTransaction(
            what(stream),
            connection -> {
              Result made = announce(connection, stream, floor, newest, server, counted);
              if (!made.isMade()) {
                connection.rollback();
              }
              return made;
            });
    result.losses().forEach(loss -> tell(stream, floor, loss));
    return result;
  }

  private Result announce(
      Connection connection,
      StreamInfo stream,
      long floor,
      long newest,
      String server,
      Map<GroupStanding, Unclaimed> counted)
      throws SQLException {
    long earlierFloor = lock(connection, stream, server);
    if (earlierFloor < 0 || earlierFloor >= floor) {
      return Result.NOT_NOW;
    }
    List<GroupStanding> groups = groups(connection, RetentionSql.LOCK_GROUPS, stream);
    List<GroupStanding> behind =
        groups.stream().filter(group -> group.committed() < newest).toList();
    if (!behind.isEmpty() && !stream.config().allowDropPastCommitted()) {
      return new Result(false, behind.stream().map(GroupStanding::name).toList(), List.of());
    }
    List<Loss> losses = new ArrayList<>();
    for (GroupStanding group : groups) {
      losses.add(
          group.committed() < newest
              ? giveUp(
                  connection,
                  stream,
                  group,
                  floor,
                  unclaimed(connection, stream, group, floor, counted))
              : noteDead(connection, stream, group, floor, earlierFloor));
    }
    try (Call call = on(connection, RetentionSql.RAISE_FLOOR, stream)) {
      call.set("floor", floor).update();
    }
    return new Result(true, List.of(), losses);
  }

  /** The floor so far; negative when what was found out before holds no more. */
  private long lock(Connection connection, StreamInfo stream, String server) throws SQLException {
    @Nullable Duration retention = stream.config().retention();
    try (Call call = on(connection, RetentionSql.LOCK, stream)) {
      ResultSet row = call.query();
      boolean holds =
          row.next()
              && row.getString("server").equals(server)
              && retention != null
              && row.getLong("retention_ns") == retention.toNanos()
              && row.getBoolean("allow_drop_past_committed")
                  == stream.config().allowDropPastCommitted();
      return holds ? row.getLong("floor") : -1;
    }
  }

  private Map<GroupStanding, Unclaimed> countUnclaimed(StreamInfo stream, long floor, long newest) {
    return database.autoCommitted(
        what(stream),
        connection -> {
          Map<GroupStanding, Unclaimed> counted = new HashMap<>();
          for (GroupStanding group : groups(connection, RetentionSql.GROUPS, stream)) {
            if (group.committed() < newest) {
              counted.put(group, unclaimed(connection, stream, group, floor));
            }
          }
          return counted;
        });
  }

  /** As it was counted, unless the group has changed since. */
  private Unclaimed unclaimed(
      Connection connection,
      StreamInfo stream,
      GroupStanding group,
      long floor,
      Map<GroupStanding, Unclaimed> counted)
      throws SQLException {
    Unclaimed before = counted.get(group);
    return before == null ? unclaimed(connection, stream, group, floor) : before;
  }

  private Unclaimed unclaimed(
      Connection connection, StreamInfo stream, GroupStanding group, long floor)
      throws SQLException {
    if (group.claimed() >= floor) {
      return new Unclaimed(0, 0, 0);
    }
    try (Call call = on(connection, RetentionSql.COUNT_UNCLAIMED, stream)) {
      ResultSet row =
          call.set("group", group.id()).set("claimed", group.claimed()).set("floor", floor).query();
      row.next();
      return new Unclaimed(
          row.getLong("messages"), row.getLong("first_id"), row.getLong("last_id"));
    }
  }

  private Loss giveUp(
      Connection connection,
      StreamInfo stream,
      GroupStanding group,
      long floor,
      Unclaimed unclaimed)
      throws SQLException {
    try (Call call = on(connection, RetentionSql.GIVE_UP, stream)) {
      ResultSet row =
          call.set("group", group.id())
              .set("floor", floor)
              .set("unclaimed", unclaimed.messages())
              .set("unclaimed_first", unclaimed.firstId())
              .set("unclaimed_last", unclaimed.lastId())
              .query();
      row.next();
      return Loss.read(group.name(), row);
    }
  }

  private Loss noteDead(
      Connection connection, StreamInfo stream, GroupStanding group, long floor, long earlierFloor)
      throws SQLException {
    try (Call call = on(connection, RetentionSql.NOTE_DEAD, stream)) {
      ResultSet row =
          call.set("group", group.id())
              .set("floor", floor)
              .set("earlier_floor", earlierFloor)
              .query();
      row.next();
      return Loss.read(group.name(), row);
    }
  }

  private List<GroupStanding> groups(Connection connection, Template template, StreamInfo stream)
      throws SQLException {
    List<GroupStanding> groups = new ArrayList<>();
    try (Call call = on(connection, template, stream);
        ResultSet row = call.query()) {
      while (row.next()) {
        groups.add(GroupStanding.read(row));
      }
    }
    return groups;
  }

  private Call on(Connection connection, Template template, StreamInfo stream) throws SQLException {
    return template.in(system.stream(stream.id())).on(connection);
  }

  private static void tell(StreamInfo stream, long floor, Loss loss) {
    if (loss.isUnread()) {
      log.warn(
          "group \"{}\" of stream \"{}\" loses {} unread messages to retention, and {} that are being handled, of"
              + " ids {} to {}: the stream's allowDropPastCommitted drops all up to id {}. The group's operation log"
              + " has it on record",
          loss.group(),
          stream.name(),
          loss.messages(),
          loss.inFlight(),
          loss.firstId(),
          loss.lastId(),
          floor);
    } else if (loss.dead() > 0) {
      log.warn(
          "group \"{}\" of stream \"{}\" loses {} dead messages to retention, of ids {} to {}",
          loss.group(),
          stream.name(),
          loss.dead(),
          loss.firstId(),
          loss.lastId());
    }
  }

  private static String what(StreamInfo stream) {
    return "give up messages of stream \"" + stream.name() + "\"";
  }
}
