package io.sqlstreams.codec;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A payload as its bytes, for tools and for formats that the caller handles. On a {@code json} or
 * {@code jsonb} stream the bytes are JSON text in UTF-8. Immutable.
 */
public final class RawPayload {
  private final byte[] bytes;

  private RawPayload(byte[] bytes) {
    this.bytes = bytes;
  }

  /** A payload of a copy of these bytes. */
  public static RawPayload of(byte[] bytes) {
    return new RawPayload(bytes.clone());
  }

  /** A payload of this text's UTF-8 bytes. */
  public static RawPayload of(String text) {
    return new RawPayload(text.getBytes(StandardCharsets.UTF_8));
  }

  /**
   * The codec that takes payloads as they are and copies nothing: who calls it leaves the bytes
   * that go in and come out unchanged.
   */
  public static PayloadCodec<RawPayload> codec() {
    return RawCodec.INSTANCE;
  }

  static RawPayload ofUncopied(byte[] bytes) {
    return new RawPayload(bytes);
  }

  byte[] uncopied() {
    return bytes;
  }

  /** A copy of the bytes. */
  public byte[] bytes() {
    return bytes.clone();
  }

  /** The bytes read as UTF-8. */
  public String text() {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  /** The number of bytes. */
  public int size() {
    return bytes.length;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof RawPayload that && Arrays.equals(bytes, that.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  /** The size alone: payloads don't belong in logs. */
  @Override
  public String toString() {
    return "RawPayload[" + bytes.length + " bytes]";
  }
}
