package io.sqlstreams.internal.fleet;

import java.time.Duration;
import java.util.Collection;
import java.util.Map;

/**
 * What the workers of one name do. One object serves all workers of that name which its process
 * holds, and should ask the database about all of them in one statement: what a turn costs while
 * nothing is due must not grow with their number.
 */
public interface Duty {
  /** The workers' name in {@code worker_config}. */
  String name();

  /** How long after a turn the next begins at the latest. */
  Duration interval();

  /**
   * How long after the turn that has just ended the next is wanted, for what becomes due at a known
   * time; zero for at once. More than the interval is the interval, which is the default. Asked on
   * the thread of the turns.
   */
  default Duration untilNext() {
    return interval();
  }

  /**
   * One turn: does what is due for the owners of these posts. Never called twice at once in a
   * process; on a thread of its own, so it may block. Skips a post that is {@linkplain
   * Post#isHeld() held} no more, and begins nothing new once the thread is interrupted.
   *
   * @return what went wrong, by the post's worker; a post that isn't there did well
   * @throws RuntimeException when the turn failed for all of them
   */
  Map<Long, RuntimeException> perform(Collection<Post> posts);
}
