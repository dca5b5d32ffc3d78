package io.sqlstreams.config;

import io.sqlstreams.error.InvalidInputException;
import java.time.Duration;

/**
 * The checks that options make on their durations. They are stored as nanoseconds in a BIGINT, so
 * 292 years is the end.
 */
final class Durations {
  static final Duration LONGEST = Duration.ofNanos(Long.MAX_VALUE);
  static final Duration SHORTEST_TIMEOUT = Duration.ofMillis(1);

  private Durations() {}

  static void requireNotNegative(String field, Duration value) {
    requireAtLeast(field, value, Duration.ZERO);
  }

  static void requireAtLeast(String field, Duration value, Duration least) {
    if (value.compareTo(least) < 0) {
      throw new InvalidInputException(field, "must be at least " + least + ", not " + value);
    }
    if (value.compareTo(LONGEST) > 0) {
      throw new InvalidInputException(field, "must be at most 292 years, not " + value);
    }
  }
}
