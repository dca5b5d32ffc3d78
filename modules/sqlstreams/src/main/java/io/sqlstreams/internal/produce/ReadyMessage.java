package io.sqlstreams.internal.produce;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A message that is checked and encoded, ready to be sent. The array is never changed.
 *
 * @param schemaVersion the version of its payload's class
 * @param routingKey null for none
 * @param messageKey null for none
 * @param payload what the codec wrote; null in a tombstone
 * @param headers a JSON object; null for none
 * @param options what it asks of the groups, a JSON object; null for nothing
 * @param idempotencyKey as it is stored; null for none
 * @param compactionRank null when it isn't compacted
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record ReadyMessage(
    int schemaVersion,
    @Nullable String routingKey,
    @Nullable String messageKey,
    byte @Nullable [] payload,
    @Nullable String headers,
    @Nullable String options,
    @Nullable UUID idempotencyKey,
    @Nullable Long compactionRank) {
  /** What the numbers of a row and the objects around it take, roughly. */
  private static final int OVERHEAD = 64;

  /** About how many bytes it takes on the wire and in memory. */
  long size() {
    return (long) OVERHEAD
        + (payload == null ? 0 : payload.length)
        + length(routingKey)
        + length(messageKey)
        + length(headers)
        + length(options);
  }

  boolean isCompacted() {
    return compactionRank != null;
  }

  private static int length(@Nullable String text) {
    return text == null ? 0 : text.length();
  }
}
