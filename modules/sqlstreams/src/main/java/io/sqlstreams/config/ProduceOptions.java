package io.sqlstreams.config;

import io.sqlstreams.error.InvalidInputException;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What goes with a payload. The texts are checked when the message is produced. Immutable.
 *
 * @param key the message key; null for none, which differs from empty; up to 1,024 bytes of UTF-8
 * @param routingKey the routing key; null for none, which differs from empty; up to 1,024 bytes of
 *     UTF-8
 * @param headers the headers; their order isn't kept; empty for none; together up to 64 KiB of
 *     UTF-8
 * @param timeout how long a handler may take for this message, at least 1 ms; each group grants it
 *     within its {@link DeliveryLimits}; null to leave it to the groups
 * @param retry the policy by which this message is tried again, in place of the groups', as a
 *     whole; each group grants it within its {@link DeliveryLimits}; null to leave it to the groups
 * @param idempotencyKey says that all messages of the stream with this key are one: the first is
 *     written, the others get its receipt, as long as the key lives ({@link
 *     StreamConfig#idempotencyKeyTtl}); null for none, which differs from empty; up to 1,024 bytes
 *     of UTF-8. A UUID in its canonical text (36 characters, lower case) is stored as it is, any
 *     other key as a UUID of version 8 (RFC 9562) made from its SHA-256
 * @param concurrency how this message is handed out among those of its key, which it needs then;
 *     null to leave it to the groups
 * @param compactionRank says that the message is compacted: of all compacted messages of its key,
 *     the one with the greatest schema version, then the greatest rank, then the greatest id is the
 *     key's head, and groups step over those that they haven't begun when they are beaten; null:
 *     the message isn't compacted, and is delivered whatever comes after it. Needs a message key
 */
public record ProduceOptions(
    @Nullable String key,
    @Nullable String routingKey,
    Map<String, String> headers,
    @Nullable Duration timeout,
    @Nullable RetryPolicy retry,
    @Nullable String idempotencyKey,
    @Nullable Concurrency concurrency,
    @Nullable Long compactionRank) {
  private static final ProduceOptions DEFAULTS =
      new ProduceOptions(null, null, Map.of(), null, null, null, null, null);

  /**
   * Copies the headers.
   *
   * @throws InvalidInputException when the timeout is outside its range
   */
  public ProduceOptions {
    headers =
        headers.isEmpty() ? Map.of() : Collections.unmodifiableMap(new LinkedHashMap<>(headers));
    if (timeout != null) {
      Durations.requireAtLeast("timeout", timeout, Durations.SHORTEST_TIMEOUT);
    }
  }

  /** No keys, no headers, no wishes. */
  public static ProduceOptions defaults() {
    return DEFAULTS;
  }

  /** A message key and nothing else. */
  public static ProduceOptions key(String key) {
    return DEFAULTS.withKey(key);
  }

  /** These options with another message key. */
  public ProduceOptions withKey(@Nullable String key) {
    return new ProduceOptions(
        key, routingKey, headers, timeout, retry, idempotencyKey, concurrency, compactionRank);
  }

  /** These options with another routing key. */
  public ProduceOptions withRoutingKey(@Nullable String routingKey) {
    return new ProduceOptions(
        key, routingKey, headers, timeout, retry, idempotencyKey, concurrency, compactionRank);
  }

  /** These options with one more header, or another value for one that is there. */
  public ProduceOptions withHeader(String name, String value) {
    Map<String, String> more = new LinkedHashMap<>(headers);
    more.put(name, value);
    return new ProduceOptions(
        key, routingKey, more, timeout, retry, idempotencyKey, concurrency, compactionRank);
  }

  /** These options with exactly these headers. */
  public ProduceOptions withHeaders(Map<String, String> headers) {
    return new ProduceOptions(
        key, routingKey, headers, timeout, retry, idempotencyKey, concurrency, compactionRank);
  }

  /** These options with another wish for the handler's time. */
  public ProduceOptions withTimeout(@Nullable Duration timeout) {
    return new ProduceOptions(
        key, routingKey, headers, timeout, retry, idempotencyKey, concurrency, compactionRank);
  }

  /** These options with another wish for a retry policy. */
  public ProduceOptions withRetry(@Nullable RetryPolicy retry) {
    return new ProduceOptions(
        key, routingKey, headers, timeout, retry, idempotencyKey, concurrency, compactionRank);
  }

  /** These options with another idempotency key. */
  public ProduceOptions withIdempotencyKey(@Nullable String idempotencyKey) {
    return new ProduceOptions(
        key, routingKey, headers, timeout, retry, idempotencyKey, concurrency, compactionRank);
  }

  /** These options with another wish for the order among the messages of the key. */
  public ProduceOptions withConcurrency(@Nullable Concurrency concurrency) {
    return new ProduceOptions(
        key, routingKey, headers, timeout, retry, idempotencyKey, concurrency, compactionRank);
  }

  /**
   * These options for a compacted message of rank 0: it replaces the earlier messages of its key,
   * unless one of them has a greater rank or schema version.
   */
  public ProduceOptions withCompaction() {
    return withCompaction(0);
  }

  /**
   * These options for a compacted message of this rank: it replaces the messages of its key that
   * are older or of a smaller rank, and loses to those of a greater one. A rank is any number that
   * the producer knows, such as the version of the row that the message tells about; then messages
   * that arrive in the wrong order do no harm.
   *
   * @param rank any number
   */
  public ProduceOptions withCompaction(long rank) {
    return new ProduceOptions(
        key, routingKey, headers, timeout, retry, idempotencyKey, concurrency, rank);
  }

  /** Whether the message is compacted; see {@link #withCompaction(long)}. */
  public boolean isCompacted() {
    return compactionRank != null;
  }
}
