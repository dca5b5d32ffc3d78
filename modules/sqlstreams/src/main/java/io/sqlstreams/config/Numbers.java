package io.sqlstreams.config;

import io.sqlstreams.error.InvalidInputException;

/** The checks that options make on their numbers. */
final class Numbers {
  private Numbers() {}

  static void requireNotNegative(String field, long value) {
    if (value < 0) {
      throw new InvalidInputException(field, "must be 0 or above, not " + value);
    }
  }

  static void requireBetween(String field, long value, long least, long most) {
    if (value < least || value > most) {
      throw new InvalidInputException(
          field, "must be from " + least + " to " + most + ", not " + value);
    }
  }
}
