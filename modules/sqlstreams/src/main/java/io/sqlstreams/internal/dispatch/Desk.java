package io.sqlstreams.internal.dispatch;

import java.time.Duration;
import java.util.List;

/** The place of one handler thread: the time of what is done here is watched. */
interface Desk {
  /** The handler is about to be called. */
  Attempt begin(List<Delivery> deliveries, Duration timeout, Attempt.Owner owner);

  /**
   * The handler has returned.
   *
   * @return whether its result counts; if not, somebody else has taken over, and the thread must
   *     end without touching anything
   */
  boolean end(Attempt attempt);
}
