package io.sqlstreams.internal.schedule;

import io.sqlstreams.Produced;
import io.sqlstreams.StreamInfo;
import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.error.ErrorCode;
import io.sqlstreams.error.SqlStreamsException;
import io.sqlstreams.internal.catalog.Catalog;
import io.sqlstreams.internal.produce.PlannedMessage;
import io.sqlstreams.internal.produce.PlannedWriter;
import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Instants;
import io.sqlstreams.internal.sql.Scope;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What is due for one stream, in one open transaction: the messages, and the cursors behind them.
 * If it isn't committed, nothing has happened.
 */
final class Turn {
  private static final Logger LOG = LoggerFactory.getLogger(Turn.class);

  /** How many schedules are claimed at once. */
  private static final int MOST_SCHEDULES = 200;

  /** How many messages a transaction has; the rest of what is due comes in the next. */
  private static final int MOST_MESSAGES = 1_000;

  /** How many bytes of payload it has, but for the last message. */
  private static final long MOST_BYTES = 8 << 20;

  private final Connection connection;
  private final Scope system;
  private final long streamId;
  private final Catalog catalog;
  private final PlannedWriter writer;
  private final Rests rests;

  Turn(
      Connection connection,
      Scope system,
      long streamId,
      Catalog catalog,
      PlannedWriter writer,
      Rests rests) {
    this.connection = connection;
    this.system = system;
    this.streamId = streamId;
    this.catalog = catalog;
    this.writer = writer;
    this.rests = rests;
  }

  /** What is due for one schedule. */
  private record Due(Schedule schedule, DueRuns runs) {
    List<PlannedMessage> messages() {
      return runs.runs().stream().map(schedule::message).toList();
    }
  }

  /** How far a schedule has come. */
  private record Moved(Due due, List<Produced> receipts) {}

  /**
   * Does it.
   *
   * @return how many messages were written
   */
  int run() throws SQLException {
    Long[] claimed = claim();
    Optional<StreamInfo> stream = catalog.stream(connection, streamId);
    if (claimed.length == 0 || stream.isEmpty()) {
      return 0;
    }
    List<Moved> moved = write(stream.get(), due(claimed));
    move(moved);
    moved.forEach(each -> rests.end(each.due().schedule().id()));
    return moved.stream().mapToInt(each -> each.receipts().size()).sum();
  }

  private Long[] claim() throws SQLException {
    try (Call call =
            ScheduleSql.CLAIM
                .behind(ScheduleSql.BEFORE_CLAIM)
                .in(system.stream(streamId))
                .on(connection);
        ResultSet row =
            call.set("stream_id", streamId)
                .setArray("resting", "bigint", rests.resting())
                .set("most", MOST_SCHEDULES)
                .query()) {
      List<Long> ids = new ArrayList<>();
      while (row.next()) {
        ids.add(row.getLong("schedule_id"));
      }
      return ids.toArray(Long[]::new);
    }
  }

  private List<Due> due(Long[] claimed) throws SQLException {
    try (Call call = ScheduleSql.CLAIMED.in(system).on(connection);
        ResultSet row =
            call.setArray("schedule_ids", "bigint", claimed).set("stream_id", streamId).query()) {
      List<Due> due = new ArrayList<>();
      int messages = 0;
      long bytes = 0;
      while (row.next() && messages < MOST_MESSAGES && bytes < MOST_BYTES) {
        @Nullable Schedule schedule = read(row);
        Instant next = schedule == null ? null : schedule.info().nextScheduledAt();
        if (schedule != null && next != null) {
          long room = 1 + (MOST_BYTES - bytes) / Math.max(1, schedule.payload().length);
          int most = (int) Math.min(MOST_MESSAGES - messages, room);
          DueRuns runs =
              DueRuns.of(
                  schedule.info().cron(),
                  schedule.info().config(),
                  next,
                  Instants.of(row, "now"),
                  most);
          due.add(new Due(schedule, runs));
          messages += runs.runs().size();
          bytes += (long) runs.runs().size() * schedule.payload().length;
        }
      }
      return due;
    }
  }

  /** Null when this version can't read it, for instance a zone that its Java doesn't know. */
  private @Nullable Schedule read(ResultSet row) throws SQLException {
    try {
      return Schedule.read(row);
    } catch (RuntimeException e) {
      rests.begin(row.getLong("id"));
      LOG.warn("schedule \"{}\" can't be read here, so it waits", row.getString("name"), e);
      return null;
    }
  }

  /** All at once, and if that fails, each by itself, so that one that can't doesn't stop others. */
  private List<Moved> write(StreamInfo stream, List<Due> due) {
    List<PlannedMessage> messages = due.stream().flatMap(each -> each.messages().stream()).toList();
    if (messages.isEmpty()) {
      return due.stream().map(each -> new Moved(each, List.of())).toList();
    }
    try {
      List<Produced> receipts = writer.write(connection, stream, messages);
      List<Moved> moved = new ArrayList<>();
      int at = 0;
      for (Due each : due) {
        int end = at + each.runs().runs().size();
        moved.add(new Moved(each, receipts.subList(at, end)));
        at = end;
      }
      return moved;
    } catch (SqlStreamsException e) {
      requireConnection(e);
      return due.size() == 1 ? failed(due.get(0), e) : writeEach(stream, due);
    }
  }

  private List<Moved> writeEach(StreamInfo stream, List<Due> due) {
    List<Moved> moved = new ArrayList<>();
    for (Due each : due) {
      List<Moved> written = write(stream, List.of(each));
      if (written.isEmpty()) {
        break; // the others stay due: each failure may have waited for a lock
      }
      moved.addAll(written);
    }
    return moved;
  }

  private List<Moved> failed(Due due, SqlStreamsException e) {
    rests.begin(due.schedule().id());
    LOG.warn(
        "schedule \"{}\" can't produce what was planned for {}, and tries again",
        due.schedule().info().name(),
        due.runs().runs().get(0),
        e);
    return List.of();
  }

  private static void requireConnection(SqlStreamsException e) {
    if (e instanceof DatabaseException && e.code() == ErrorCode.DATABASE_UNREACHABLE) {
      throw e;
    }
  }

  private void move(List<Moved> moved) throws SQLException {
    int size = moved.size();
    Long[] ids = new Long[size];
    String[] nextAt = new String[size];
    String[] lastAt = new String[size];
    Long[] messageIds = new Long[size];
    for (int i = 0; i < size; i++) {
      Due due = moved.get(i).due();
      List<Instant> runs = due.runs().runs();
      List<Produced> receipts = moved.get(i).receipts();
      ids[i] = due.schedule().id();
      nextAt[i] = due.runs().next().toString();
      if (!runs.isEmpty()) {
        lastAt[i] = runs.get(runs.size() - 1).toString();
        messageIds[i] = receipts.get(receipts.size() - 1).id();
      }
      if (due.runs().dropped()) {
        LOG.info(
            "schedule \"{}\": planned times from {} on were missed, and the policy is {}",
            due.schedule().info().name(),
            due.schedule().info().nextScheduledAt(),
            due.schedule().info().config().missedRuns());
      }
    }
    try (Call call = ScheduleSql.MOVE.in(system).on(connection)) {
      long rows =
          call.setArray("schedule_ids", "bigint", ids)
              .setArray("next_at", "timestamptz", nextAt)
              .setArray("last_at", "timestamptz", lastAt)
              .setArray("message_ids", "bigint", messageIds)
              .update();
      if (rows != size) {
        throw new IllegalStateException(rows + " cursors moved, not " + size);
      }
    }
  }
}
