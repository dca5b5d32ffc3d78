package io.sqlstreams.internal.codec;

import io.sqlstreams.codec.PayloadCodec;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.codec.SchemaVersion;
import io.sqlstreams.error.InvalidInputException;
import org.jspecify.annotations.Nullable;

/** Which codec a payload class gets. */
public final class Codecs {
  private Codecs() {}

  /**
   * The codec of this class: bytes as they are for {@code byte[]} and {@link RawPayload}, else
   * JSON.
   *
   * @throws InvalidInputException when the class is null, or its version is below 1
   */
  @SuppressWarnings("unchecked") // the class says which T it is
  public static <T> PayloadCodec<T> forType(@Nullable Class<T> type) {
    if (type == null) {
      throw new InvalidInputException("type", "it is null: give the payload's class");
    }
    if (type == byte[].class) {
      return (PayloadCodec<T>) BytesCodec.INSTANCE;
    }
    if (type == RawPayload.class) {
      return (PayloadCodec<T>) RawPayload.codec();
    }
    return new JsonCodec<>(type, versionOf(type));
  }

  /**
   * The codec as the library can rely on it, whatever its author does with arrays and null.
   *
   * @throws InvalidInputException when it is null, or its version is below 1
   */
  public static <T> PayloadCodec<T> guarded(@Nullable PayloadCodec<T> codec) {
    if (codec == null) {
      throw new InvalidInputException("codec", "it is null: give a codec, or the payload's class");
    }
    if (codec == (PayloadCodec<?>) RawPayload.codec()) {
      return codec; // its payloads can't be changed
    }
    return new GuardedCodec<>(codec);
  }

  /**
   * The codec of this class as that of an older version.
   *
   * @throws InvalidInputException when the class is null, or says that it is of another version
   */
  public static <T> PayloadCodec<T> ofVersion(int version, @Nullable Class<T> type) {
    if (type == null) {
      throw new InvalidInputException("type", "it is null: give the class of version " + version);
    }
    @Nullable SchemaVersion declared = type.getAnnotation(SchemaVersion.class);
    if (declared != null && declared.value() != version) {
      throw new InvalidInputException(
          "version",
          version
              + " isn't the version of "
              + type.getSimpleName()
              + ", "
              + declared.value()
              + ": correct one of the two");
    }
    return forType(type);
  }

  private static int versionOf(Class<?> type) {
    @Nullable SchemaVersion version = type.getAnnotation(SchemaVersion.class);
    if (version == null) {
      return SchemaVersion.DEFAULT;
    }
    if (version.value() < 1) {
      throw new InvalidInputException(
          "schemaVersion", "must be 1 or above, not " + version.value());
    }
    return version.value();
  }
}
