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
   * The payload's bytes. They are copied when the call returns, so the codec may use the array
   * again.
   *
   * <p>An {@link Error} other than a {@link StackOverflowError} goes on to whoever produces;
   * nothing is sent then either.
   *
   * @return the bytes; null counts as an exception
   * @throws Exception when the payload can't be written; the produce then fails as an {@link
   *     io.sqlstreams.error.InvalidInputException} before anything is sent, its cause being this
   *     exception, and a caller's transaction goes on
   */
  byte[] encode(T payload) throws Exception;

  /**
   * The payload of these bytes. The array is the codec's: it may keep and change it.
   *
   * @return the payload; null counts as an exception
   * @throws Exception when the bytes can't be read; the message then goes to the exception queue,
   *     its bytes kept, and the error that is recorded names the exception's class without its
   *     message, which may quote the payload. An {@link Error} counts as such too
   */
  T decode(byte[] bytes) throws Exception;

  /**
   * The schema version that is stored with what this codec writes: 1 or above. Read once for each
   * handle. Defaults to 1.
   */
  default int schemaVersion() {
    return SchemaVersion.DEFAULT;
  }
}
