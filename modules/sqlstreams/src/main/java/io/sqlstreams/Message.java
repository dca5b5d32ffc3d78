package io.sqlstreams;

import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One delivery of a message to a handler. Thread-safe if the payload is.
 *
 * @param <T> the payload's type
 */
public interface Message<T> {
  /** The message id: the position in the stream, above 0. */
  long id();

  /**
   * The payload; null in a tombstone, and nowhere else. Streams without compacted messages have no
   * tombstones, so the type doesn't say it; a handler of compacted messages asks {@link
   * #isTombstone} first.
   */
  T payload();

  /**
   * Whether the message has no payload, but says that its {@link #key} was deleted: see {@link
   * Producer#produceTombstone(io.sqlstreams.config.ProduceOptions)}.
   */
  boolean isTombstone();

  /** The message key; null when the message has none. */
  @Nullable String key();

  /** The routing key; null when the message has none. */
  @Nullable String routingKey();

  /** The headers, in no particular order; empty when there are none. Unmodifiable. */
  Map<String, String> headers();

  /** When the message was produced, by the database's clock. */
  Instant createdAt();

  /** The run of a schedule that this message is; null when it isn't one. */
  @Nullable ScheduledRun scheduledRun();

  /**
   * The time for which a schedule had planned this message, or at which somebody ran it by hand;
   * null when it isn't one of a schedule. See {@link #scheduledRun}.
   */
  default @Nullable Instant scheduledAt() {
    ScheduledRun run = scheduledRun();
    return run == null ? null : run.scheduledAt();
  }

  /** Which attempt this is: 0 for the first. A delay counts as an attempt as well. */
  int attempt();

  /** How many of the earlier attempts ended in a delay. */
  int delays();

  /** The schema version that the message was written with: 1 or above. */
  int schemaVersion();

  /**
   * Whether the result of this delivery won't count any more: its time is over, or another process
   * has taken it over. A long handler should look now and then, and give up when it is true.
   */
  boolean cancelled();
}
