package io.sqlstreams.internal.fleet;

import java.util.UUID;

/** A worker that this process holds. */
public interface Post {
  /** The row of {@code worker_config}. */
  long worker();

  /** The system, stream or group that it works for. */
  long owner();

  /** The instance's token: a statement that finds it alive in {@code worker_instance} is fenced. */
  UUID token();

  /** Whether its lease is certain to last at this moment. */
  boolean isHeld();
}
