package io.sqlstreams;

import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A message of a key as the log holds it. Immutable if the payload is.
 *
 * @param id its id, the position in the stream: 1 or above
 * @param payload its payload; null in a tombstone
 * @param schemaVersion the schema version that it was written with: 1 or above
 * @param rank its {@linkplain io.sqlstreams.config.ProduceOptions#withCompaction(long) rank}; null
 *     when it isn't compacted, which a head always is
 * @param routingKey the routing key; null when it has none
 * @param headers the headers, in no particular order; empty when there are none
 * @param createdAt when it was produced, by the database's clock
 * @param <T> the payload's type
 */
public record KeyedMessage<T>(
    long id,
    @Nullable T payload,
    int schemaVersion,
    @Nullable Long rank,
    @Nullable String routingKey,
    Map<String, String> headers,
    Instant createdAt) {
  public KeyedMessage {
    headers = Map.copyOf(headers);
  }

  /** Whether it has no payload, and says that its key was deleted. */
  public boolean isTombstone() {
    return payload == null;
  }

  /** The position alone: payloads and keys don't belong in logs. */
  @Override
  public String toString() {
    return "KeyedMessage[id=" + id + "]";
  }
}
