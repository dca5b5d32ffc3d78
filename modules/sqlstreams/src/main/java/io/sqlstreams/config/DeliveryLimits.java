package io.sqlstreams.config;

import io.sqlstreams.error.InvalidInputException;
import java.time.Duration;

/**
 * What a group grants to messages that ask for a timeout or a retry policy of their own: a wish
 * outside these limits gets the nearest value inside. Where least and most are equal, every message
 * of the group gets that value, whatever it asks for. The group's own settings must lie within.
 * Immutable.
 *
 * @param minTimeout the shortest timeout, at least 1 ms; defaults to 1 ms
 * @param maxTimeout the longest timeout, at least {@code minTimeout}; defaults to 292 years
 * @param minRetries the fewest retries, 0 or above; defaults to 0
 * @param maxRetries the most retries, at least {@code minRetries}; defaults to {@link
 *     RetryPolicy#UNLIMITED}
 * @param minBackoff the shortest wait before a retry, 0 or above, never below {@link
 *     RetryPolicy#MIN_BACKOFF} in effect; it lengthens the group's own waits as well; defaults to 0
 * @param maxBackoff the longest wait before a retry, at least {@code minBackoff} and {@link
 *     RetryPolicy#MIN_BACKOFF}; defaults to 292 years
 * @param maxDelays the most delays, 0 or above; defaults to {@link RetryPolicy#UNLIMITED}
 */
public record DeliveryLimits(
    Duration minTimeout,
    Duration maxTimeout,
    int minRetries,
    int maxRetries,
    Duration minBackoff,
    Duration maxBackoff,
    int maxDelays) {
  private static final DeliveryLimits DEFAULTS =
      new DeliveryLimits(
          Durations.SHORTEST_TIMEOUT,
          Durations.LONGEST,
          0,
          RetryPolicy.UNLIMITED,
          Duration.ZERO,
          Durations.LONGEST,
          RetryPolicy.UNLIMITED);

  /**
   * @throws InvalidInputException when a value is outside its range, or a least one is above its
   *     most
   */
  public DeliveryLimits {
    Durations.requireAtLeast("minTimeout", minTimeout, Durations.SHORTEST_TIMEOUT);
    Durations.requireAtLeast("maxTimeout", maxTimeout, Durations.SHORTEST_TIMEOUT);
    requireOrder("minTimeout", minTimeout, "maxTimeout", maxTimeout);
    Numbers.requireNotNegative("minRetries", minRetries);
    Numbers.requireNotNegative("maxRetries", maxRetries);
    requireOrder("minRetries", minRetries, "maxRetries", maxRetries);
    Durations.requireNotNegative("minBackoff", minBackoff);
    Durations.requireAtLeast("maxBackoff", maxBackoff, RetryPolicy.MIN_BACKOFF);
    requireOrder("minBackoff", minBackoff, "maxBackoff", maxBackoff);
    Numbers.requireNotNegative("maxDelays", maxDelays);
  }

  /** No limits. */
  public static DeliveryLimits defaults() {
    return DEFAULTS;
  }

  /** These limits with others on the timeout. */
  public DeliveryLimits withTimeout(Duration least, Duration most) {
    return new DeliveryLimits(
        least, most, minRetries, maxRetries, minBackoff, maxBackoff, maxDelays);
  }

  /** These limits with others on the number of retries. */
  public DeliveryLimits withRetries(int least, int most) {
    return new DeliveryLimits(
        minTimeout, maxTimeout, least, most, minBackoff, maxBackoff, maxDelays);
  }

  /** These limits with others on the wait before a retry. */
  public DeliveryLimits withBackoff(Duration least, Duration most) {
    return new DeliveryLimits(
        minTimeout, maxTimeout, minRetries, maxRetries, least, most, maxDelays);
  }

  /** These limits with another on the number of delays. */
  public DeliveryLimits withMaxDelays(int maxDelays) {
    return new DeliveryLimits(
        minTimeout, maxTimeout, minRetries, maxRetries, minBackoff, maxBackoff, maxDelays);
  }

  private static <C extends Comparable<C>> void requireOrder(
      String leastField, C least, String mostField, C most) {
    if (least.compareTo(most) > 0) {
      throw new InvalidInputException(
          leastField, least + " is above " + mostField + ", " + most + ": lower it or raise that");
    }
  }
}
