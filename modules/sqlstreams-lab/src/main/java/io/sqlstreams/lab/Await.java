package io.sqlstreams.lab;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waiting for a state that comes by itself; a bound turns a hang into a failure. */
public final class Await {
  private static final Duration BOUND = Duration.ofSeconds(60);
  private static final long PAUSE_NANOS = 1_000_000;

  private Await() {}

  /** Looks again and again until it is so. */
  public static void until(String what, BooleanSupplier isSo) {
    long end = System.nanoTime() + BOUND.toNanos();
    while (!isSo.getAsBoolean()) {
      if (System.nanoTime() > end) {
        throw new AssertionError("waited " + BOUND + " in vain until " + what);
      }
      // the processors are for what is awaited
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }
}
