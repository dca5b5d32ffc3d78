package io.sqlstreams;

import io.sqlstreams.error.InvalidInputException;
import java.time.Duration;

/**
 * How a handler ended with a message. Throwing is the fourth way: the message is tried again by the
 * retry policy.
 */
public sealed interface Outcome {
  /** The message is done for this group. */
  static Outcome done() {
    return Done.INSTANCE;
  }

  /**
   * Run the message again later. It counts as a delay, not as a failure.
   *
   * @param after how long to wait at least, by the database's clock; 0 or above
   * @throws InvalidInputException when it is negative or above 292 years
   */
  static Outcome delay(Duration after) {
    return new Delay(after);
  }

  /**
   * Give the message up: it stays in the exception queue as dead.
   *
   * @param reason why, for whoever looks at it later; it is stored, cut to 8 KiB
   */
  static Outcome dead(String reason) {
    return new Dead(reason);
  }

  /** See {@link Outcome#done()}. */
  enum Done implements Outcome {
    /** The only one. */
    INSTANCE
  }

  /**
   * See {@link Outcome#delay(Duration)}.
   *
   * @param after how long to wait at least
   */
  record Delay(Duration after) implements Outcome {
    /**
     * @throws InvalidInputException when it is negative or above 292 years
     */
    public Delay {
      if (after.isNegative() || after.compareTo(Duration.ofNanos(Long.MAX_VALUE)) > 0) {
        throw new InvalidInputException("after", "must be from 0 to 292 years, not " + after);
      }
    }
  }

  /**
   * See {@link Outcome#dead(String)}.
   *
   * @param reason why
   */
  record Dead(String reason) implements Outcome {}
}
