package io.sqlstreams.config;

import io.sqlstreams.error.InvalidInputException;
import org.jspecify.annotations.Nullable;

/**
 * Where the tables of an installation are to be brought. Immutable.
 *
 * @param scope which tables; null: all of them
 * @param version the version that they are to have; 0: the newest that this build knows
 * @param down whether the versions above are taken back, which loses what they hold
 */
public record Migration(@Nullable MigrationScope scope, int version, boolean down) {
  /**
   * Checks the version; whether this build knows it is checked when it is used.
   *
   * @throws InvalidInputException when the version is negative, or when it is to be taken back
   *     below 1: the first version goes with {@code destroy()}
   */
  public Migration {
    if (version < 0 || (version == 0 && (down || scope != null))) {
      throw new InvalidInputException(
          "version",
          "must be 1 or above, not " + version + ": only destroying takes the first version away");
    }
    if (scope == null && version != 0) {
      throw new InvalidInputException(
          "scope", "is needed with a version: the control plane and the streams count apart");
    }
  }

  /** Everything up to the newest version that this build knows. */
  public static Migration up() {
    return new Migration(null, 0, false);
  }

  /**
   * The tables of one scope up to this version; those that are there or above stay as they are.
   *
   * @param version from 1 to the newest that this build knows
   * @throws InvalidInputException when it is below 1
   */
  public static Migration upTo(MigrationScope scope, int version) {
    return new Migration(scope, version, false);
  }

  /**
   * The tables of one scope down to this version; those that are there or below stay as they are.
   * What the versions above have added is lost.
   *
   * @param version from 1 to the newest that this build knows
   * @throws InvalidInputException when it is below 1
   */
  public static Migration downTo(MigrationScope scope, int version) {
    return new Migration(scope, version, true);
  }
}
