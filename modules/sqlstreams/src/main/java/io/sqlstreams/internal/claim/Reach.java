package io.sqlstreams.internal.claim;

/**
 * How many messages of the log one claim looks at. A group that reads them all looks at as many as
 * it takes; one that reads few of them goes over the others in large steps. Thread-safe.
 */
final class Reach {
  /**
   * The most messages that one claim looks at: with messages of 1,000 bytes that took 20 to 40 ms,
   * for which the group's cursor is locked.
   */
  static final int MOST = 50_000;

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
   */
  synchronized void ended(int maxMessages, int maxScan, int scanned, int passed, int taken) {
    if (passed == 0) {
      return; // it went over ids without messages
    }
    if (taken == passed) {
      reach = 0;
    } else if (taken >= maxMessages) {
      // what lay behind the last one was looked at in vain
      reach = passed + passed / GROWTH;
    } else if (scanned >= maxScan && passed == scanned && taken <= maxMessages / 2) {
      reach = Math.min(MOST, GROWTH * maxScan);
    }
  }
}
