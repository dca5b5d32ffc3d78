package io.sqlstreams.internal.codec;

import io.sqlstreams.codec.PayloadCodec;

/**
 * Payloads that are bytes already, copied both ways: the caller may change the array once the call
 * has returned, and a handler the one that it is given.
 */
final class BytesCodec implements PayloadCodec<byte[]> {
  static final BytesCodec INSTANCE = new BytesCodec();

  private BytesCodec() {}

  @Override
  public byte[] encode(byte[] payload) {
    return payload.clone();
  }

  @Override
  public byte[] decode(byte[] bytes) {
    return bytes.clone();
  }
}
