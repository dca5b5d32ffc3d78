package io.sqlstreams.internal.dispatch;

import java.util.List;

/** How the handler is run on what was claimed. Thread-safe. */
public interface Runner {
  /** How many messages of one claim a thread takes from the queue at once, at most. */
  int most();

  /**
   * How many messages one claim should take, at most.
   *
   * @param target how many the session should hold
   */
  default int claimSize(int target) {
    return target;
  }

  /**
   * Whether messages of a key that has an order wait for each other in the local queue, so that the
   * session may hold several ranges with the same key. If not, the database keeps them apart.
   */
  default boolean keepsOrder() {
    return true;
  }

  /**
   * Sees to it that each of these ends.
   *
   * @param deliveries deliveries of one work, in its order, whose lease is held
   * @return whether the thread still belongs to the pool: false when it was abandoned meanwhile
   */
  boolean run(List<Delivery> deliveries, Desk desk);

  /** Makes the runner of a session. */
  interface Factory {
    Runner create(SessionParts parts);
  }
}
