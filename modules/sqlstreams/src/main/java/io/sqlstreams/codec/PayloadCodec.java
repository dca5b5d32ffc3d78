package io.sqlstreams.codec;

/**
 * Turns payloads into the bytes that a stream stores, and back. On a {@code json} or {@code jsonb}
 * stream the bytes must be JSON text in UTF-8; a {@code bytea} stream takes any. Implementations
 * must be thread-safe.
 *
 * @param <T> the payload's type
 */
public interface PayloadCodec<T> {
  /**
   * The payload's bytes. The caller doesn't change the array afterwards, and neither may the codec.
   *
   * @throws Exception when the payload can't be written; the produce then fails as an {@link
   *     io.sqlstreams.error.InvalidInputException} before anything is sent
   */
  byte[] encode(T payload) throws Exception;

  /**
   * The payload of these bytes.
   *
   * @throws Exception when the bytes can't be read; the message then goes to the exception queue,
   *     its bytes kept
   */
  T decode(byte[] bytes) throws Exception;

  /** The schema version that is stored with what this codec writes: 1 or above. Defaults to 1. */
  default int schemaVersion() {
    return SchemaVersion.DEFAULT;
  }
}
