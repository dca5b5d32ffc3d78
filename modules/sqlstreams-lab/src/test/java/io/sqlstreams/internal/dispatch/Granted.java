package io.sqlstreams.internal.dispatch;

import io.sqlstreams.config.DeliveryLimits;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.RetryPolicy;
import java.time.Duration;

/**
 * What a group grants to a message, as the documentation says it; worked out without the library.
 *
 * @param timeout how long a handler may take
 * @param retry the policy
 * @param shortestMicros the shortest wait before a retry
 * @param longestMicros the longest
 * @param maxRetries the most retries
 * @param maxDelays the most delays
 */
record Granted(
    Duration timeout,
    RetryPolicy retry,
    double shortestMicros,
    double longestMicros,
    int maxRetries,
    int maxDelays) {
  /**
   * A wait.
   *
   * @param least in microseconds
   * @param most in microseconds
   */
  record Wait(long least, long most) {
    static final Wait NONE = new Wait(0, 0);

    static Wait exactly(Duration wait) {
      return new Wait(micros(wait), micros(wait));
    }
  }

  static Granted of(GroupConfig group, ProduceOptions wishes) {
    DeliveryLimits limits = group.limits();
    RetryPolicy retry = wishes.retry() == null ? group.retry() : wishes.retry();
    Duration timeout = wishes.timeout() == null ? group.timeout() : wishes.timeout();
    double shortest = micros(longer(RetryPolicy.MIN_BACKOFF, limits.minBackoff()));
    double longest = micros(shorter(retry.cap(), limits.maxBackoff()));
    return new Granted(
        longer(limits.minTimeout(), shorter(limits.maxTimeout(), timeout)),
        retry,
        shortest,
        Math.max(shortest, longest),
        Math.max(limits.minRetries(), Math.min(limits.maxRetries(), retry.maxRetries())),
        Math.min(limits.maxDelays(), retry.maxDelays()));
  }

  /** The wait after so many failures. */
  Wait backoff(int failures) {
    double wait =
        failures == 1
            ? micros(retry.initialBackoff())
            : micros(retry.base()) * Math.pow(retry.exponent(), failures - 1.0);
    double middle = within(wait);
    return new Wait(
        (long) Math.floor(within(middle * (1 - retry.jitter()))),
        (long) Math.ceil(within(middle * (1 + retry.jitter()))));
  }

  private double within(double micros) {
    return Math.max(shortestMicros, Math.min(longestMicros, micros));
  }

  private static long micros(Duration duration) {
    return Math.min(Long.MAX_VALUE / 1_000, duration.toNanos() / 1_000);
  }

  private static Duration longer(Duration one, Duration other) {
    return one.compareTo(other) >= 0 ? one : other;
  }

  private static Duration shorter(Duration one, Duration other) {
    return one.compareTo(other) <= 0 ? one : other;
  }
}
