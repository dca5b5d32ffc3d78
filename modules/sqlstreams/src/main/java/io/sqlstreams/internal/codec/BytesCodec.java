package io.sqlstreams.internal.codec;

import io.sqlstreams.codec.PayloadCodec;

/** Payloads that are bytes already; nothing is copied. */
final class BytesCodec implements PayloadCodec<byte[]> {
  static final BytesCodec INSTANCE = new BytesCodec();

  private BytesCodec() {}

  @Override
  public byte[] encode(byte[] payload) {
    return payload;
  }

  @Override
  public byte[] decode(byte[] bytes) {
    return bytes;
  }
}
