package io.sqlstreams.config;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What goes with a payload. The texts are checked when the message is produced. Immutable.
 *
 * @param key the message key; null for none, which differs from empty; up to 1,024 bytes of UTF-8
 * @param routingKey the routing key; null for none, which differs from empty; up to 1,024 bytes of
 *     UTF-8
 * @param headers the headers; their order isn't kept; empty for none; together up to 64 KiB of
 *     UTF-8
 */
public record ProduceOptions(
    @Nullable String key, @Nullable String routingKey, Map<String, String> headers) {
  private static final ProduceOptions DEFAULTS = new ProduceOptions(null, null, Map.of());

  /** Copies the headers. */
  public ProduceOptions {
    headers =
        headers.isEmpty() ? Map.of() : Collections.unmodifiableMap(new LinkedHashMap<>(headers));
  }

  /** No key, no routing key, no headers. */
  public static ProduceOptions defaults() {
    return DEFAULTS;
  }

  /** A message key and nothing else. */
  public static ProduceOptions key(String key) {
    return DEFAULTS.withKey(key);
  }

  /** These options with another message key. */
  public ProduceOptions withKey(@Nullable String key) {
    return new ProduceOptions(key, routingKey, headers);
  }

  /** These options with another routing key. */
  public ProduceOptions withRoutingKey(@Nullable String routingKey) {
    return new ProduceOptions(key, routingKey, headers);
  }

  /** These options with one more header, or another value for one that is there. */
  public ProduceOptions withHeader(String name, String value) {
    Map<String, String> more = new LinkedHashMap<>(headers);
    more.put(name, value);
    return new ProduceOptions(key, routingKey, more);
  }

  /** These options with exactly these headers. */
  public ProduceOptions withHeaders(Map<String, String> headers) {
    return new ProduceOptions(key, routingKey, headers);
  }
}
