package io.sqlstreams.internal.outcome;

import io.sqlstreams.config.RetryPolicy;
import java.time.Duration;

/** The wait before a retry. Pure. */
final class Backoff {
  private Backoff() {}

  /**
   * The wait after a number of failures: {@code initialBackoff} after the first, {@code base *
   * exponent^(n-1)} after the n-th, kept between the shortest wait and the cap, before and after
   * the jitter.
   *
   * @param failures 1 or above
   * @param chance from 0 (shortest) to 1 (longest)
   */
  static Duration after(Policy policy, int failures, double chance) {
    RetryPolicy retry = policy.retry();
    // in doubles: infinity is a fine answer before the cap, an overflow isn't
    double nanos =
        failures <= 1
            ? retry.initialBackoff().toNanos()
            : retry.base().toNanos() * Math.pow(retry.exponent(), failures - 1.0);
    double bounded = within(policy, nanos);
    double jittered = within(policy, bounded * (1 + retry.jitter() * (2 * chance - 1)));
    return Duration.ofNanos((long) jittered);
  }

  /** A base of zero times infinity is no number: it counts as the shortest wait. */
  private static double within(Policy policy, double nanos) {
    double shortest = policy.minBackoff().toNanos();
    return Double.isNaN(nanos)
        ? shortest
        : Math.max(shortest, Math.min((double) policy.retry().cap().toNanos(), nanos));
  }
}
