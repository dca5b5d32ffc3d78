package io.sqlstreams.internal.outcome;

import io.sqlstreams.config.DeliveryLimits;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.RetryPolicy;
import io.sqlstreams.internal.document.MessageOptions;
import java.time.Duration;

/**
 * What holds for one message: its own wish before the group's setting, and the group's limits
 * before both.
 *
 * @param timeout how long a handler may take
 * @param retry how it is tried again
 * @param minBackoff the shortest wait before a retry
 */
public record Policy(Duration timeout, RetryPolicy retry, Duration minBackoff) {
  static Policy of(GroupConfig group, MessageOptions wishes) {
    DeliveryLimits limits = group.limits();
    Duration timeout = wishes.timeout() == null ? group.timeout() : wishes.timeout();
    RetryPolicy retry = wishes.retry() == null ? group.retry() : wishes.retry();
    Duration least = max(RetryPolicy.MIN_BACKOFF, limits.minBackoff());
    Duration most = max(least, min(retry.cap(), limits.maxBackoff()));
    RetryPolicy granted =
        new RetryPolicy(
            Math.max(limits.minRetries(), Math.min(limits.maxRetries(), retry.maxRetries())),
            min(retry.initialBackoff(), most),
            retry.base(),
            retry.exponent(),
            most,
            retry.jitter(),
            Math.min(limits.maxDelays(), retry.maxDelays()));
    return new Policy(max(limits.minTimeout(), min(limits.maxTimeout(), timeout)), granted, least);
  }

  private static Duration min(Duration one, Duration other) {
    return one.compareTo(other) <= 0 ? one : other;
  }

  private static Duration max(Duration one, Duration other) {
    return one.compareTo(other) >= 0 ? one : other;
  }
}
