package io.sqlstreams.internal.produce;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Idempotency keys as the UUIDs that are stored. */
final class IdempotencyKeys {
  private static final int UUID_LENGTH = 36;
  private static final long VERSION_MASK = 0xf000L;
  private static final long VERSION_8 = 0x8000L;
  private static final long VARIANT_MASK = 0xc000_0000_0000_0000L;
  private static final long VARIANT = 0x8000_0000_0000_0000L;

  private IdempotencyKeys() {}

  /**
   * The UUID for a caller's key. The canonical text of a UUID stands for itself. Any other text
   * gets the first 128 bits of its SHA-256, 6 of them replaced by the version and the variant, as
   * RFC 9562 asks of version 8. So two texts that differ, if only in their case, are two keys.
   */
  static @Nullable UUID uuid(@Nullable String key) {
    if (key == null) {
      return null;
    }
    UUID itself = canonical(key);
    return itself != null ? itself : hash(key);
  }

  private static @Nullable UUID canonical(String key) {
    if (key.length() != UUID_LENGTH) {
      return null;
    }
    try {
      UUID uuid = UUID.fromString(key);
      return uuid.toString().equals(key) ? uuid : null;
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  private static UUID hash(String key) {
    ByteBuffer digest = ByteBuffer.wrap(sha256().digest(key.getBytes(UTF_8)));
    long high = digest.getLong();
    long low = digest.getLong();
    return new UUID((high & ~VERSION_MASK) | VERSION_8, (low & ~VARIANT_MASK) | VARIANT);
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
