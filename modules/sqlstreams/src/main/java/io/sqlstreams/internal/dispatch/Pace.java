package io.sqlstreams.internal.dispatch;

import java.util.concurrent.atomic.LongAdder;

/**
 * How much this session should hold: what its handlers can do in about a second. So fast handlers
 * get large claims, and slow ones don't hoard what an idle process could do. {@link #handled} is
 * thread-safe; the rest belongs to who claims.
 */
final class Pace {
  private static final double NANOS_PER_SECOND = 1e9;

  private final int handlers;
  private final int most;
  private final LongAdder busyNanos = new LongAdder();
  private final LongAdder handled = new LongAdder();
  private double nanosPerMessage;

  /**
   * @param handlers how many messages are handled at the same time
   * @param most the upper bound
   */
  Pace(int handlers, int most) {
    this.handlers = handlers;
    this.most = most;
  }

  /** A handler took so long for so many messages. */
  void handled(long nanos, int messages) {
    busyNanos.add(nanos);
    handled.add(messages);
  }

  /**
   * How many messages should be at hand, from 1 to the upper bound; before anything is known, one
   * for each handler.
   */
  int target() {
    long messages = handled.sumThenReset();
    long nanos = busyNanos.sumThenReset();
    if (messages > 0) {
      double latest = Math.max(1, (double) nanos / messages);
      nanosPerMessage = nanosPerMessage == 0 ? latest : (nanosPerMessage + latest) / 2;
    }
    double wanted = nanosPerMessage == 0 ? handlers : handlers * NANOS_PER_SECOND / nanosPerMessage;
    return (int) Math.max(1, Math.min(most, wanted));
  }
}
