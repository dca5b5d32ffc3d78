package io.sqlstreams.internal.produce;

import io.sqlstreams.config.Concurrency;
import io.sqlstreams.config.PayloadType;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.error.InvalidInputException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The rules for what goes into a message, checked before anything is sent. No value appears in what
 * they say.
 */
final class MessageChecks {
  /** The longest key of any kind, in bytes of UTF-8. An index row takes 2,704 bytes. */
  static final int MAX_KEY_BYTES = 1_024;

  /** The most that the names and values of a message's headers take together, in bytes of UTF-8. */
  static final int MAX_HEADER_BYTES = 64 << 10;

  private MessageChecks() {}

  /**
   * A message key, a routing key or an idempotency key. Null is none; empty is a key like others.
   */
  static void key(String field, @Nullable String key) {
    if (key == null) {
      return;
    }
    int bytes = textLength(field, "it", key);
    if (bytes > MAX_KEY_BYTES) {
      throw new InvalidInputException(
          field,
          "it is "
              + bytes
              + " bytes of UTF-8, the limit is "
              + MAX_KEY_BYTES
              + ": shorten or hash it");
    }
  }

  /** What a message asks for among those of its key needs a key. */
  static void concurrency(ProduceOptions options) {
    Concurrency wish = options.concurrency();
    if (wish != null && wish != Concurrency.PARALLEL && options.key() == null) {
      throw new InvalidInputException(
          "messageKey",
          "it is null, but the message asks to be "
              + wish.sqlName()
              + " within its key: give a key");
    }
  }

  /** What a compacted message needs, and what can't go together with compaction. */
  static void compaction(ProduceOptions options) {
    if (options.isCompacted() && options.key() == null) {
      throw new InvalidInputException(
          "messageKey", "it is null: a compacted message, or a tombstone, needs a message key");
    }
    if (options.isCompacted() && options.concurrency() == Concurrency.ORDERED) {
      throw new InvalidInputException(
          "concurrency",
          "it is ordered, but the message is compacted, so a later one may take its place: choose one of both");
    }
  }

  static void headers(Map<String, String> headers) {
    long bytes = 0;
    for (Map.Entry<@Nullable String, @Nullable String> header : nullable(headers).entrySet()) {
      String name = header.getKey();
      String value = header.getValue();
      if (name == null || value == null) {
        throw new InvalidInputException(
            "headers",
            (name == null ? "a name" : "a value")
                + " is null: leave the header out, or use an empty text");
      }
      bytes += textLength("headers", "a name", name);
      bytes += textLength("headers", "a value", value);
    }
    if (bytes > MAX_HEADER_BYTES) {
      throw new InvalidInputException(
          "headers",
          "names and values are "
              + bytes
              + " bytes of UTF-8 together, the limit is "
              + MAX_HEADER_BYTES
              + ": put what is long into the payload");
    }
  }

  /** The map comes from the caller, so what its type says of null isn't sure. */
  @SuppressWarnings("unchecked")
  private static Map<@Nullable String, @Nullable String> nullable(Map<String, String> headers) {
    return (Map<@Nullable String, @Nullable String>) (Map<?, ?>) headers;
  }

  /** What the codec wrote, by the settings of the stream it goes to; null in a tombstone. */
  static void payload(byte @Nullable [] payload, StreamConfig config) {
    if (payload == null) {
      return;
    }
    if (payload.length > config.maxPayloadBytes()) {
      throw new InvalidInputException(
          "payload",
          "it is "
              + payload.length
              + " bytes, the stream's limit is "
              + config.maxPayloadBytes()
              + " (maxPayloadBytes): make it smaller, or declare a larger limit");
    }
    if (config.payloadType() == PayloadType.BYTEA) {
      return;
    }
    int invalid = Utf8.firstInvalid(payload);
    if (invalid >= 0) {
      throw new InvalidInputException(
          "payload",
          "the byte at "
              + invalid
              + (payload[invalid] == 0 ? " is U+0000" : " isn't UTF-8")
              + ": a "
              + config.payloadType().sqlName()
              + " stream takes JSON text in UTF-8, a bytea stream takes any bytes");
    }
    if (config.payloadType() == PayloadType.JSONB && JsonEscapes.hasNoCharacter(payload)) {
      throw new InvalidInputException(
          "payload",
          "it holds the escape of U+0000 or of a lone surrogate, which jsonb has no room for: remove it, or use a json stream");
    }
  }

  private static int textLength(String field, String what, String text) {
    int bytes = Utf8.length(text);
    if (bytes == Utf8.HAS_NUL) {
      throw new InvalidInputException(
          field, what + " holds U+0000, which PostgreSQL's text can't: remove it");
    }
    if (bytes == Utf8.HAS_LONE_SURROGATE) {
      throw new InvalidInputException(
          field, what + " holds half of a surrogate pair, which is no character: repair the text");
    }
    return bytes;
  }
}
