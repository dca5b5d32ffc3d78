package io.sqlstreams.internal.codec;

import io.sqlstreams.codec.PayloadCodec;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.error.InvalidInputException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Turns stored payloads into those of one class: its own schema version by its codec, older ones by
 * the codec of theirs and a function. Immutable; as thread-safe as those.
 *
 * @param <T> the payload's type
 */
public final class PayloadReader<T> {
  private static final String VERSION = "version";

  private final PayloadCodec<T> codec;
  private final boolean readsEveryVersion;
  private final Map<Integer, Older<T>> older;

  private PayloadReader(
      PayloadCodec<T> codec, boolean readsEveryVersion, Map<Integer, Older<T>> older) {
    this.codec = codec;
    this.readsEveryVersion = readsEveryVersion;
    this.older = older;
  }

  /** An older version's way to the present one. */
  @FunctionalInterface
  private interface Older<T> {
    T decode(byte[] bytes) throws Exception;
  }

  /** A reader of this codec's version; of every version when it takes payloads as they are. */
  public static <T> PayloadReader<T> of(PayloadCodec<T> codec) {
    return new PayloadReader<>(codec, (Object) codec == RawPayload.codec(), Map.of());
  }

  /** The codec of the present version. */
  public PayloadCodec<T> codec() {
    return codec;
  }

  /**
   * This reader, which reads an older version too.
   *
   * @throws InvalidInputException when the version is below 1, the codec's own or above, or read
   *     already, or something is null
   */
  public <U> PayloadReader<T> upgrading(
      int version, PayloadCodec<U> codec, Function<? super U, ? extends T> upcaster) {
    requireOlder(version);
    Function<? super U, ? extends T> function = required("upcaster", upcaster);
    PayloadCodec<U> decoder = required("codec", codec);
    Map<Integer, Older<T>> more = new TreeMap<>(older);
    more.put(
        version,
        bytes -> {
          @Nullable T payload = function.apply(decoder.decode(bytes));
          if (payload == null) {
            throw new IllegalArgumentException("the upcaster gave null");
          }
          return payload;
        });
    return new PayloadReader<>(this.codec, readsEveryVersion, more);
  }

  private void requireOlder(int version) {
    if (readsEveryVersion) {
      throw new InvalidInputException(
          VERSION, "this handle takes payloads of every version as they are: use one of a class");
    }
    if (version < 1) {
      throw new InvalidInputException(VERSION, "must be 1 or above, not " + version);
    }
    if (version >= codec.schemaVersion()) {
      throw new InvalidInputException(
          VERSION,
          "must be below the handle's own, "
              + codec.schemaVersion()
              + ", not "
              + version
              + ": only older payloads can be upgraded");
    }
    if (older.containsKey(version)) {
      throw new InvalidInputException(
          VERSION, version + " is upgraded already: leave one of the two out");
    }
  }

  private static <V> V required(String field, @Nullable V value) {
    if (value == null) {
      throw new InvalidInputException(field, "it is null: give one");
    }
    return value;
  }

  /** Whether payloads of this version can be read. */
  public boolean reads(int version) {
    return readsEveryVersion || version == codec.schemaVersion() || older.containsKey(version);
  }

  /** The versions that can be read, ascending; null: every one. */
  public @Nullable List<Integer> versions() {
    return readsEveryVersion
        ? null
        : Stream.concat(older.keySet().stream(), Stream.of(codec.schemaVersion()))
            .sorted()
            .toList();
  }

  /** The versions that can be read, in words. */
  public String told() {
    List<Integer> versions = versions();
    return versions == null
        ? "every version"
        : (versions.size() == 1 ? "version " : "versions ")
            + versions.stream().map(String::valueOf).collect(Collectors.joining(", "));
  }

  /**
   * The payload of these bytes.
   *
   * @param version one that it {@link #reads}
   * @throws Exception when they can't be read, or the function of the version throws
   */
  public T decode(int version, byte[] bytes) throws Exception {
    Older<T> way = older.get(version);
    return way == null ? codec.decode(bytes) : way.decode(bytes);
  }
}
