package io.sqlstreams;

import io.sqlstreams.config.ProduceOptions;

/**
 * A payload with what goes with it, for producing many at once. Immutable if the payload is.
 *
 * @param payload the payload; null in a tombstone, and nowhere else
 * @param options its key, routing key and headers
 * @param tombstone whether it has no payload, and deletes its message key
 * @param <T> the payload's type
 */
public record Outgoing<T>(T payload, ProduceOptions options, boolean tombstone) {
  /** A payload with its options. */
  public Outgoing(T payload, ProduceOptions options) {
    this(payload, options, false);
  }

  /** A payload alone. */
  public static <T> Outgoing<T> of(T payload) {
    return new Outgoing<>(payload, ProduceOptions.defaults());
  }

  /** A payload with its options. */
  public static <T> Outgoing<T> of(T payload, ProduceOptions options) {
    return new Outgoing<>(payload, options);
  }

  /** A tombstone: a compacted message of rank 0 without a payload, which deletes this key. */
  public static <T> Outgoing<T> tombstone(String key) {
    return tombstone(ProduceOptions.key(key));
  }

  /**
   * A tombstone: a compacted message without a payload, which deletes its key.
   *
   * @param options with a message key; without a {@linkplain ProduceOptions#withCompaction(long)
   *     rank} it has rank 0
   */
  @SuppressWarnings("NullAway") // see the component
  public static <T> Outgoing<T> tombstone(ProduceOptions options) {
    return new Outgoing<>(null, options, true);
  }
}
