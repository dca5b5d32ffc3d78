package io.sqlstreams.internal.schedule;

import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.error.ErrorCode;
import io.sqlstreams.error.NotInstalledException;
import io.sqlstreams.error.OutcomeUnknownException;
import io.sqlstreams.internal.catalog.Catalog;
import io.sqlstreams.internal.fleet.Duty;
import io.sqlstreams.internal.fleet.Post;
import io.sqlstreams.internal.produce.PlannedWriter;
import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import java.sql.ResultSet;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Produces what schedules have planned. One statement looks for what is due; each stream that has
 * something gets a transaction. However many processes believe that it is their work, there is one
 * message for each planned time: whoever moves a schedule's cursor holds its row, and the message
 * is written in the same transaction.
 */
public final class ScheduleProducer implements Duty {
  private static final Logger LOG = LoggerFactory.getLogger(ScheduleProducer.class);

  /** The worker's name; the system owns it. */
  public static final String NAME = "schedule_producer";

  /** So late a schedule is noticed that was registered by another process. */
  private static final Duration INTERVAL = Duration.ofSeconds(1);

  /** So long until the next look at what another process holds. */
  private static final Duration HELD = Duration.ofMillis(100);

  /** How many streams are served between two looks. */
  private static final int MOST_STREAMS = 100;

  private final Database database;
  private final Scope system;
  private final Catalog catalog;
  private final PlannedWriter writer;
  private final LongConsumer produced;
  private final Rests rests = new Rests();
  private final Rests streamRests = new Rests();
  private volatile Duration untilNext = Duration.ZERO;

  /**
   * @param system the installation
   * @param produced is given the stream's id after each commit of messages
   */
  public ScheduleProducer(
      Database database,
      Scope system,
      Catalog catalog,
      PlannedWriter writer,
      LongConsumer produced) {
    this.database = database;
    this.system = system;
    this.catalog = catalog;
    this.writer = writer;
    this.produced = produced;
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Duration interval() {
    return INTERVAL;
  }

  @Override
  public Duration untilNext() {
    return untilNext;
  }

  /**
   * @param stream the stream
   * @param due how long until something is due; zero or below: it is
   */
  private record Look(long stream, Duration due) {
    boolean isDue() {
      return due.isZero() || due.isNegative();
    }
  }

  @Override
  public Map<Long, RuntimeException> perform(Collection<Post> posts) {
    untilNext = INTERVAL;
    while (posts.stream().anyMatch(Post::isHeld) && turn()) {
      // until nothing is due that can be had
    }
    return Map.of();
  }

  /** One look, and what is due. Says whether messages were written, so that more may be due. */
  private boolean turn() {
    Duration next = INTERVAL;
    boolean wrote = false;
    for (Look look : look()) {
      if (Thread.currentThread().isInterrupted()) {
        return false;
      }
      if (!look.isDue()) {
        next = least(next, look.due());
        break;
      }
      if (produce(look.stream())) {
        wrote = true;
      } else {
        next = least(next, HELD);
      }
    }
    untilNext = next;
    return wrote;
  }

  private static Duration least(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }

  private List<Look> look() {
    Long[] resting = rests.resting();
    return database.autoCommitted(
        "look for schedules that are due",
        connection -> {
          try (Call call = ScheduleSql.LOOK.in(system).on(connection);
              ResultSet row =
                  call.setArray("resting", "bigint", resting)
                      .setArray("resting_streams", "bigint", streamRests.resting())
                      .set("most", MOST_STREAMS)
                      .query()) {
            List<Look> looks = new ArrayList<>();
            while (row.next()) {
              looks.add(
                  new Look(
                      row.getLong("stream_id"), Duration.ofNanos(row.getLong("micros") * 1_000)));
            }
            return looks;
          }
        });
  }

  /**
   * One transaction for this stream.
   *
   * @return whether messages were written, so that more may be due
   */
  private boolean produce(long stream) {
    try {
      int messages =
          database.inTransaction(
              "produce for the schedules of stream " + stream,
              connection -> new Turn(connection, system, stream, catalog, writer, rests).run());
      if (messages > 0) {
        produced.accept(stream);
      }
      streamRests.end(stream);
      return messages > 0;
    } catch (OutcomeUnknownException e) {
      // the cursors tell which: if it was committed, nothing of it is due any more
      produced.accept(stream);
      LOG.warn("stream {}: the connection was lost while schedules produced", stream, e);
      return true;
    } catch (NotInstalledException e) {
      LOG.debug("stream {} was destroyed", stream, e);
      return false;
    } catch (RuntimeException e) {
      if (e instanceof DatabaseException lost && lost.code() == ErrorCode.DATABASE_UNREACHABLE) {
        throw e;
      }
      streamRests.begin(stream);
      LOG.warn("stream {}: its schedules can't produce, and try again", stream, e);
      return false;
    }
  }
}
