package io.sqlstreams.internal.codec;

import io.sqlstreams.codec.PayloadCodec;
import io.sqlstreams.error.InvalidInputException;
import org.jspecify.annotations.Nullable;

/**
 * A codec of the user's, as the library can rely on it. Arrays are copied where they cross: a codec
 * may fill the same buffer again and again while messages wait to be sent, and may decode in place
 * although the same bytes are decoded again when a transaction is tried again. Thread-safe if the
 * codec is.
 */
final class GuardedCodec<T> implements PayloadCodec<T> {
  private final PayloadCodec<T> codec;
  private final int schemaVersion;

  /**
   * @throws InvalidInputException when the codec's version is below 1
   */
  GuardedCodec(PayloadCodec<T> codec) {
    this.codec = codec;
    this.schemaVersion = codec.schemaVersion();
    if (schemaVersion < 1) {
      throw new InvalidInputException("schemaVersion", "must be 1 or above, not " + schemaVersion);
    }
  }

  @Override
  @SuppressWarnings("NullAway") // who produces says that null isn't bytes
  public byte[] encode(T payload) throws Exception {
    byte @Nullable [] bytes = codec.encode(payload);
    return bytes == null ? null : bytes.clone();
  }

  @Override
  public T decode(byte[] bytes) throws Exception {
    @Nullable T payload = codec.decode(bytes.clone());
    if (payload == null) {
      throw new IllegalStateException("the codec read null: it must read a payload, or throw");
    }
    return payload;
  }

  @Override
  public int schemaVersion() {
    return schemaVersion;
  }
}
