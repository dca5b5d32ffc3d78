package io.sqlstreams;

import io.sqlstreams.config.ProduceOptions;

/**
 * What is to become of a key's head; see {@link MessageKey#change}.
 *
 * @param <T> the payload's type
 */
public sealed interface HeadChange<T> {
  /** Nothing is produced; the head stays what it is. */
  static <T> HeadChange<T> none() {
    return new None<>();
  }

  /** A message with this payload becomes the head. */
  static <T> HeadChange<T> to(T payload) {
    return to(payload, ProduceOptions.defaults());
  }

  /**
   * A message with this payload becomes the head.
   *
   * @param payload the payload
   * @param options its routing key, headers and wishes. The message key is that of the handle. A
   *     rank below the head's is raised to it
   */
  static <T> HeadChange<T> to(T payload, ProduceOptions options) {
    return new Put<>(Outgoing.of(payload, options));
  }

  /** A tombstone becomes the head: the key is deleted. */
  static <T> HeadChange<T> tombstone() {
    return new Put<>(Outgoing.tombstone(ProduceOptions.defaults()));
  }

  /**
   * See {@link HeadChange#none()}.
   *
   * @param <T> the payload's type
   */
  record None<T>() implements HeadChange<T> {}

  /**
   * See {@link HeadChange#to(Object, ProduceOptions)} and {@link HeadChange#tombstone()}.
   *
   * @param message what is produced
   * @param <T> the payload's type
   */
  record Put<T>(Outgoing<T> message) implements HeadChange<T> {}
}
