package io.sqlstreams.bench.load;

import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** What is left to be produced in one round. Thread-safe. */
public final class Quota {
  private final AtomicLong left;
  private final @Nullable Duration time;
  private final long most;
  private volatile long startedAt;
  private volatile boolean stopped;

  Quota(OptionalLong messages, @Nullable Duration time, long most) {
    this.left = new AtomicLong(messages.orElse(Long.MAX_VALUE));
    this.time = time;
    this.most = most;
  }

  /** No round takes more messages than this. */
  public long most() {
    return most;
  }

  /** The time begins. */
  public void start() {
    startedAt = System.nanoTime();
  }

  /** Nothing more is handed out. */
  public void stop() {
    stopped = true;
  }

  /** Takes up to so many messages; 0 when the round is over. */
  public int take(int upTo) {
    if (stopped || (time != null && System.nanoTime() - startedAt >= time.toNanos())) {
      return 0;
    }
    long before = left.getAndUpdate(value -> Math.max(0, value - upTo));
    return (int) Math.min(before, upTo);
  }
}
