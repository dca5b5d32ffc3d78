package io.sqlstreams.internal.claim;

import java.time.Duration;

/**
 * How many messages of the log one claim looks at. A group that reads them all looks at as many as
 * it takes; one that reads few of them goes over the others in large steps. Thread-safe.
 */
final class Reach {
  /** The most messages that one claim looks at. */
  static final int MOST = 50_000;

  /**
   * How long a claim may take because of what it passes over: the group's cursor is locked for that
   * long. With a thousand bindings the way is long before it is far.
   */
  static final Duration LONG = Duration.ofMillis(200);

  private static final int GROWTH = 4;

  /** 0 as long as every message is wanted. */
  private int reach;

  /**
   * For a claim.
   *
   * @param maxMessages how many messages it takes at most
   */
  synchronized int of(int maxMessages) {
    return Math.max(maxMessages, Math.min(MOST, reach));
  }

  /**
   * A claim has ended.
   *
   * @param maxMessages how many messages it could take
   * @param maxScan how many it could look at
   * @param scanned how many it looked at
   * @param passed how many of them the group has passed
   * @param taken how many of those it took
   * @param nanos how long it took
   */
  synchronized void ended(
      int maxMessages, int maxScan, int scanned, int passed, int taken, long nanos) {
    if (passed == 0) {
      return; // it went over ids without messages
    }
    if (taken == passed) {
      reach = 0;
    } else if (taken >= maxMessages) {
      // what lay behind the last one was looked at in vain
      reach = passed + passed / GROWTH;
    } else if (nanos > LONG.toNanos()) {
      reach = maxScan / GROWTH;
    } else if (scanned >= maxScan
        && passed == scanned
        && taken <= maxMessages / 2
        && GROWTH * nanos <= LONG.toNanos()) {
      reach = Math.min(MOST, GROWTH * maxScan);
    }
  }
}
