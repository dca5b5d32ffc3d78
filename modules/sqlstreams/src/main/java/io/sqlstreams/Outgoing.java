package io.sqlstreams;

import io.sqlstreams.config.ProduceOptions;

/**
 * A payload with what goes with it, for producing many at once. Immutable if the payload is.
 *
 * @param payload the payload
 * @param options its key, routing key and headers
 * @param <T> the payload's type
 */
public record Outgoing<T>(T payload, ProduceOptions options) {
  /** A payload alone. */
  public static <T> Outgoing<T> of(T payload) {
    return new Outgoing<>(payload, ProduceOptions.defaults());
  }

  /** A payload with its options. */
  public static <T> Outgoing<T> of(T payload, ProduceOptions options) {
    return new Outgoing<>(payload, options);
  }
}
