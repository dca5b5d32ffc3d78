package io.sqlstreams.internal.fleet;

import java.util.UUID;

/**
 * A worker that this process holds. {@link #isHeld} says whether it still does, at a moment; a
 * transaction that must not be done by two fences itself, see {@link PostFence}.
 */
public interface Post {
  /** The row of {@code worker_config}. */
  long worker();

  /** The system, stream or group that it works for. */
  long owner();

  /** The instance's token: a statement that finds it alive in {@code worker_instance} is fenced. */
  UUID token();

  /**
   * Whether it is this process's at this moment for certain: not suspended or given back as far as
   * the process knows, and its lease, counted from before the last renewal was sent, not over.
   */
  boolean isHeld();
}
