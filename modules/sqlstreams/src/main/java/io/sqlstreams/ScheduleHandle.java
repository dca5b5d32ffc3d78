package io.sqlstreams;

import io.sqlstreams.codec.PayloadCodec;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.Cron;
import io.sqlstreams.config.ScheduleConfig;
import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.error.DestroyNotAllowedException;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.error.NotInstalledException;
import io.sqlstreams.error.OutcomeUnknownException;
import io.sqlstreams.error.ScheduleNotFoundException;
import io.sqlstreams.error.StreamNotFoundException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A schedule by its name: it produces the same message to a stream at each of its planned times.
 * For each planned time exactly one message is produced, whatever crashes and however many
 * processes do it, or none, where {@link io.sqlstreams.config.MissedRuns} says so. Planned times
 * are compared with the database's clock; neither the clock nor the zone of a JVM counts. When the
 * message is handled is up to the groups of the stream.
 *
 * <p>The handle itself does no I/O; each verb resolves the name when it is called. Thread-safe.
 * Every verb works in a transaction of its own and throws {@link DatabaseException} when the
 * database can't be reached or refuses, {@link NotInstalledException} when the schema holds no
 * installation, and {@link io.sqlstreams.error.ClosedException} when the client is closed.
 */
public interface ScheduleHandle {
  /** The schedule's name. */
  String name();

  /**
   * Declares the schedule, with a payload as by {@link SqlStreams#stream(String, Class)} for the
   * payload's own class. It is created when it isn't there, and its first planned time is the first
   * after this moment. Else the newest declaration wins, a difference is logged, and an equal one
   * writes nothing. With another cron, the planned times begin anew after this moment, and those
   * that passed without a message are dropped; anything else holds from the next message on. A
   * suspended schedule stays suspended.
   *
   * @param stream the name of the stream that it produces to, which can be renamed later; when it
   *     is destroyed, the schedule is too
   * @param payload the payload of every message
   * @throws InvalidInputException when the name breaks its rule, when something is null, or when
   *     the message is one that a {@link Producer} of the stream would refuse
   * @throws StreamNotFoundException when the stream isn't registered
   */
  ScheduleInfo register(String stream, Cron cron, Object payload, ScheduleConfig config);

  /**
   * Declares the schedule with every setting at its default; see {@link #register(String, Cron,
   * Object, ScheduleConfig)}.
   */
  default ScheduleInfo register(String stream, Cron cron, Object payload) {
    return register(stream, cron, payload, ScheduleConfig.defaults());
  }

  /**
   * Declares the schedule with a payload by this codec; see {@link #register(String, Cron, Object,
   * ScheduleConfig)}. A {@link RawPayload} of a schema version other than 1 is registered so.
   */
  <T> ScheduleInfo register(
      String stream, Cron cron, T payload, PayloadCodec<T> codec, ScheduleConfig config);

  /** The registered schedule; empty when there is none of this name. */
  Optional<ScheduleInfo> get();

  /**
   * The next planned times; none while it is suspended. The first is in the past when nobody could
   * produce since.
   *
   * @param count how many, 0 or above
   * @throws InvalidInputException when the count is below 0
   * @throws ScheduleNotFoundException when the schedule isn't registered
   */
  List<Instant> nextTimes(int count);

  /**
   * Where the schedule stands, and what became of its last message in each group of the stream. It
   * locks nothing.
   *
   * @throws ScheduleNotFoundException when the schedule isn't registered
   */
  ScheduleStatus status();

  /**
   * Produces one message more, at once, whether or not the schedule is suspended. It is marked as
   * {@link ScheduledRun#byHand}, and the planned times stay as they are.
   *
   * @return its receipt
   * @throws ScheduleNotFoundException when the schedule isn't registered
   * @throws InvalidInputException when the stream was declared anew since, and doesn't take the
   *     message any more
   * @throws OutcomeUnknownException when the connection broke while the commit was under way
   */
  Produced runNow();

  /**
   * Stops the schedule from producing, from the return of this call on, until it is resumed.
   *
   * @return whether this call did it; false when it was suspended already
   * @throws ScheduleNotFoundException when the schedule isn't registered
   */
  boolean suspend();

  /**
   * Has a suspended schedule go on, with the first planned time after this moment. What was planned
   * for the time between isn't made up for, whatever {@link io.sqlstreams.config.MissedRuns} says.
   *
   * @return whether this call did it; false when it wasn't suspended
   * @throws ScheduleNotFoundException when the schedule isn't registered
   */
  boolean resume();

  /**
   * Removes the schedule; its messages stay. Does nothing when there is none.
   *
   * @throws DestroyNotAllowedException when the client doesn't allow it
   */
  void destroy();
}
