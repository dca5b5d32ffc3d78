package io.sqlstreams;

import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.RetryPolicy;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A message as the log holds it, and what has become of it in each group. Immutable.
 *
 * @param id its id, the position in the stream: 1 or above
 * @param createdAt when it was produced, by the database's clock
 * @param schemaVersion the schema version that it was written with: 1 or above
 * @param routingKey the routing key; null when it has none
 * @param key the message key; null when it has none
 * @param headers the headers, in no particular order; empty when there are none, or when they
 *     aren't an object of texts, which no producer writes
 * @param payload its bytes as they are stored, decoded by nobody; null when there are none
 * @param timeout how long it asks the groups to let a handler take; null when it leaves that to
 *     them. They grant it within their limits
 * @param retry the retry policy that it asks for; null when it leaves that to the groups. They
 *     grant it within their limits
 * @param scheduledRun the run of a schedule that it is; null when it isn't one
 * @param deliveries each registered group of the stream, by name
 */
public record MessageInfo(
    long id,
    Instant createdAt,
    int schemaVersion,
    @Nullable String routingKey,
    @Nullable String key,
    Map<String, String> headers,
    @Nullable RawPayload payload,
    @Nullable Duration timeout,
    @Nullable RetryPolicy retry,
    @Nullable ScheduledRun scheduledRun,
    List<GroupDelivery> deliveries) {
  public MessageInfo {
    headers = Map.copyOf(headers);
    deliveries = List.copyOf(deliveries);
  }

  /** The position alone: payloads and keys don't belong in logs. */
  @Override
  public String toString() {
    return "MessageInfo[id=" + id + "]";
  }
}
