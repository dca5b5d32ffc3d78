package io.sqlstreams.config;

import io.sqlstreams.error.InvalidInputException;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a consumer group reads of its stream: a message is read when any of the group's bindings
 * matches it. Immutable.
 */
public sealed interface Binding permits Binding.RoutingKey, Binding.Headers {
  /** The longest pattern, in bytes of UTF-8: no routing key is longer. */
  int MAX_PATTERN_BYTES = 1_024;

  /** The most that names and values of a header binding take together, in bytes of UTF-8. */
  int MAX_HEADERS_BYTES = 1_024;

  /**
   * A binding on the routing key.
   *
   * @param pattern see {@link RoutingKey}
   * @throws InvalidInputException when the pattern is null or empty, is longer than {@value
   *     #MAX_PATTERN_BYTES} bytes, or holds U+0000 or half of a surrogate pair
   */
  static RoutingKey routingKey(String pattern) {
    return new RoutingKey(pattern);
  }

  /**
   * A binding on one header; add others with {@link Headers#and}.
   *
   * @throws InvalidInputException when name or value is null, they are longer than {@value
   *     #MAX_HEADERS_BYTES} bytes together, or hold U+0000 or half of a surrogate pair
   */
  static Headers header(String name, String value) {
    return new Headers(Headers.pair(name, value));
  }

  /**
   * Messages whose whole routing key matches a pattern. {@code *} stands for any run of characters:
   * none, dots and line ends among them too. Every other character stands for itself, case and all;
   * there is no escape. A message without a routing key matches no pattern, {@code *} not either.
   *
   * @param pattern 1 to {@value Binding#MAX_PATTERN_BYTES} bytes of UTF-8
   */
  record RoutingKey(String pattern) implements Binding {
    private static final String FIELD = "pattern";

    /**
     * @throws InvalidInputException see {@link Binding#routingKey}
     */
    public RoutingKey {
      requireNotNull(FIELD, "it", pattern);
      if (pattern.isEmpty()) {
        throw new InvalidInputException(
            FIELD, "it is empty and matches next to nothing: use \"*\" for every routing key");
      }
      int bytes = Texts.bytes(FIELD, "it", pattern);
      if (bytes > MAX_PATTERN_BYTES) {
        throw new InvalidInputException(
            FIELD,
            "it is "
                + bytes
                + " bytes of UTF-8, the limit is "
                + MAX_PATTERN_BYTES
                + ": shorten it, a \"*\" stands for any run of characters");
      }
    }

    @Override
    public String toString() {
      return pattern;
    }
  }

  /**
   * Messages that have each of these headers, with exactly this value. What else they have doesn't
   * matter.
   *
   * @param headers values by name, one or more
   */
  record Headers(Map<String, String> headers) implements Binding {
    private static final String FIELD = "headers";

    /**
     * @throws InvalidInputException when there is no pair, which would match everything, and as in
     *     {@link Binding#header}
     */
    public Headers {
      requireNotNull(FIELD, "the map", headers);
      Map<String, String> copy = new LinkedHashMap<>();
      long bytes = 0;
      for (Map.Entry<String, String> header : headers.entrySet()) {
        requireNotNull(FIELD, "a name", header.getKey());
        requireNotNull(FIELD, "a value", header.getValue());
        bytes += Texts.bytes(FIELD, "a name", header.getKey());
        bytes += Texts.bytes(FIELD, "a value", header.getValue());
        copy.put(header.getKey(), header.getValue());
      }
      if (copy.isEmpty()) {
        throw new InvalidInputException(
            FIELD, "a header binding without a pair would match every message: name a header");
      }
      if (bytes > MAX_HEADERS_BYTES) {
        throw new InvalidInputException(
            FIELD,
            "names and values are "
                + bytes
                + " bytes of UTF-8 together, the limit is "
                + MAX_HEADERS_BYTES
                + ": bind to fewer or shorter ones");
      }
      headers = Collections.unmodifiableMap(copy);
    }

    /**
     * This binding with one header more: a message must have all of them.
     *
     * @throws InvalidInputException when the binding has another value for the name already, which
     *     no message could meet, and as in {@link Binding#header}
     */
    public Headers and(String name, String value) {
      Map<String, String> more = new LinkedHashMap<>(headers);
      @Nullable String earlier = more.put(name, value);
      if (earlier != null && !earlier.equals(value)) {
        throw new InvalidInputException(
            FIELD,
            "one header can't have two values at once: use a binding for each value, any may match");
      }
      return new Headers(more);
    }

    private static Map<String, String> pair(String name, String value) {
      Map<String, String> pair = new LinkedHashMap<>();
      pair.put(name, value);
      return pair;
    }

    @Override
    public String toString() {
      return headers.toString();
    }
  }

  private static void requireNotNull(String field, String what, @Nullable Object value) {
    if (value == null) {
      throw new InvalidInputException(field, what + " is null: give a text");
    }
  }
}
