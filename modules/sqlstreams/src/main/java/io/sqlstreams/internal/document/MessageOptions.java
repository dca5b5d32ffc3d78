package io.sqlstreams.internal.document;

import io.sqlstreams.ScheduledRun;
import io.sqlstreams.config.Concurrency;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.RetryPolicy;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * What a message asks of the groups, and which schedule it comes from, as the log's {@code options}
 * keep it.
 *
 * @param timeout how long a handler may take for it; null to leave it to the group
 * @param retry its policy in place of the group's; null to leave it to the group
 * @param run which run of a schedule it is; null when it isn't one
 */
public record MessageOptions(
    @Nullable Duration timeout, @Nullable RetryPolicy retry, @Nullable ScheduledRun run) {
  /** The wish for the order among the messages of a key, which claims read in the database. */
  public static final String CONCURRENCY = "concurrency";

  /** No wishes. */
  public static final MessageOptions NONE = new MessageOptions(null, null, null);

  private static final String SCHEDULED_AT = "scheduled_at";

  /** The document of these wishes; null when there are none. */
  public static @Nullable String write(ProduceOptions options) {
    return write(options, null);
  }

  /** The same of a message that is this run of a schedule. */
  public static @Nullable String write(ProduceOptions options, @Nullable ScheduledRun run) {
    Duration timeout = options.timeout();
    RetryPolicy retry = options.retry();
    Concurrency concurrency = options.concurrency();
    if (timeout == null && retry == null && concurrency == null && run == null) {
      return null;
    }
    SparseObject document = new SparseObject();
    if (timeout != null) {
      document.put("timeout_ns", timeout);
    }
    if (retry != null) {
      SparseObject policy = new SparseObject();
      RetryDocument.write(retry, policy);
      document.put("retry", policy);
    }
    if (concurrency != null) {
      document.put(CONCURRENCY, concurrency.sqlName());
    }
    if (run != null) {
      document.put("schedule", run.schedule());
      document.put(SCHEDULED_AT, run.scheduledAt().toString());
      if (run.byHand()) {
        document.put("by_hand", true);
      }
    }
    return document.json();
  }

  /**
   * The wishes of this document; none for null.
   *
   * @throws RuntimeException when it isn't one that {@link #write} has written
   */
  public static MessageOptions read(@Nullable String json) {
    if (json == null) {
      return NONE;
    }
    JsonNode document = SparseObject.parse(json);
    return new MessageOptions(
        document.has("timeout_ns")
            ? SparseObject.duration(document, "timeout_ns", Duration.ZERO)
            : null,
        document.has("retry") ? RetryDocument.read(document.path("retry")) : null,
        document.has(SCHEDULED_AT)
            ? new ScheduledRun(
                document.path("schedule").asString(),
                Instant.parse(document.path(SCHEDULED_AT).asString()),
                document.path("by_hand").asBoolean(false))
            : null);
  }

  /** The run in this document; null when there is none, or none that can be read. */
  public static @Nullable ScheduledRun run(@Nullable String json) {
    if (json == null || !json.contains(SCHEDULED_AT)) {
      return null;
    }
    try {
      return read(json).run();
    } catch (RuntimeException e) {
      return null;
    }
  }
}
