package io.sqlstreams.internal.codec;

import io.sqlstreams.codec.PayloadCodec;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.cfg.JsonNodeFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * Payloads of a class as JSON. Numbers keep every digit: without a type to go by, an integer
 * becomes an Integer, Long or BigInteger and any other number a BigDecimal with its scale (so
 * {@code 1.10} stays {@code 1.10}; only the sign of {@code -0.0} has no place there). Properties
 * that the class doesn't have are ignored. Thread-safe.
 */
final class JsonCodec<T> implements PayloadCodec<T> {
  private static final JsonMapper MAPPER =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      // the stream has a limit of its own on the whole payload
                      StreamReadConstraints.builder().maxStringLength(Integer.MAX_VALUE).build())
                  .build())
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
          .build();

  private final Class<T> type;
  private final int schemaVersion;
  private final ObjectWriter writer;
  private final ObjectReader reader;

  JsonCodec(Class<T> type, int schemaVersion) {
    this.type = type;
    this.schemaVersion = schemaVersion;
    this.writer = MAPPER.writer();
    this.reader = MAPPER.readerFor(type);
  }

  @Override
  public byte[] encode(T payload) {
    try {
      return writer.writeValueAsBytes(payload);
    } catch (StackOverflowError e) {
      throw new IllegalArgumentException("the payload is nested too deeply, or contains itself", e);
    }
  }

  @Override
  public T decode(byte[] bytes) {
    @Nullable T payload;
    try {
      payload = reader.readValue(bytes);
    } catch (StackOverflowError e) {
      throw new IllegalArgumentException("the payload is nested too deeply", e);
    }
    if (payload == null) {
      throw new IllegalArgumentException("the payload is null, not a " + type.getSimpleName());
    }
    return payload;
  }

  @Override
  public int schemaVersion() {
    return schemaVersion;
  }
}
