package io.sqlstreams.internal.upkeep;

import java.time.Duration;

/** When something is to be looked at again. By the JVM's count of nanoseconds. Not thread-safe. */
final class Due {
  private long at = System.nanoTime();

  boolean isNow() {
    return at - System.nanoTime() <= 0;
  }

  void now() {
    at = System.nanoTime();
  }

  void in(Duration pause) {
    at = System.nanoTime() + pause.toNanos();
  }

  /** After this many microseconds, but not before the one or after the other. */
  void in(long micros, Duration least, Duration most) {
    Duration pause = Duration.ofNanos(Math.min(micros, Long.MAX_VALUE / 1_000) * 1_000);
    in(pause.compareTo(least) < 0 ? least : pause.compareTo(most) > 0 ? most : pause);
  }
}
