package io.sqlstreams.codec;

/** See {@link RawPayload#codec()}. */
final class RawCodec implements PayloadCodec<RawPayload> {
  static final RawCodec INSTANCE = new RawCodec();

  private RawCodec() {}

  @Override
  public byte[] encode(RawPayload payload) {
    return payload.uncopied();
  }

  @Override
  public RawPayload decode(byte[] bytes) {
    return RawPayload.ofUncopied(bytes);
  }
}
