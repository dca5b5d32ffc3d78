package io.sqlstreams.config;

import io.sqlstreams.error.InvalidInputException;
import java.time.Duration;

/**
 * What a consumer group is declared to be. Immutable.
 *
 * @param start where the group begins when it is first registered; later declarations don't move
 *     it; defaults to {@link Start#BEGINNING}
 * @param retry what happens to failed messages; defaults to {@link RetryPolicy#defaults()}
 * @param timeout how long a handler may take for one message, at least 1 ms; then its thread is
 *     interrupted; defaults to 30 s
 * @param maxRangeReclaims how often a range of messages may be taken over from a crashed process
 *     before its messages are handed out one by one, 0 or above; defaults to {@value
 *     #DEFAULT_MAX_RANGE_RECLAIMS}
 */
public record GroupConfig(Start start, RetryPolicy retry, Duration timeout, int maxRangeReclaims) {
  /** 30 seconds. */
  public static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(30);

  /** After three crashes over the same range its messages go on one by one. */
  public static final int DEFAULT_MAX_RANGE_RECLAIMS = 3;

  private static final GroupConfig DEFAULTS =
      new GroupConfig(
          Start.BEGINNING, RetryPolicy.defaults(), DEFAULT_TIMEOUT, DEFAULT_MAX_RANGE_RECLAIMS);

  /**
   * @throws InvalidInputException when a value is outside its range
   */
  public GroupConfig {
    Durations.requireAtLeast("timeout", timeout, Duration.ofMillis(1));
    if (maxRangeReclaims < 0) {
      throw new InvalidInputException(
          "maxRangeReclaims", "must be 0 or above, not " + maxRangeReclaims);
    }
  }

  /** Every setting at its default. */
  public static GroupConfig defaults() {
    return DEFAULTS;
  }

  /** These settings with another beginning. */
  public GroupConfig withStart(Start start) {
    return new GroupConfig(start, retry, timeout, maxRangeReclaims);
  }

  /** These settings with another retry policy. */
  public GroupConfig withRetry(RetryPolicy retry) {
    return new GroupConfig(start, retry, timeout, maxRangeReclaims);
  }

  /** These settings with another time that a handler may take for one message. */
  public GroupConfig withTimeout(Duration timeout) {
    return new GroupConfig(start, retry, timeout, maxRangeReclaims);
  }

  /**
   * These settings with another number of take-overs before a range is handed out message by
   * message.
   */
  public GroupConfig withMaxRangeReclaims(int maxRangeReclaims) {
    return new GroupConfig(start, retry, timeout, maxRangeReclaims);
  }
}
