package io.sqlstreams;

import io.sqlstreams.error.InvalidInputException;
import java.time.Duration;

/**
 * How a handler ended with a message. Throwing an exception is the same as {@link
 * #failed(Throwable)}; an {@link OutcomeException} is the outcome that it carries.
 */
public sealed interface Outcome {
  /** The message is done for this group. */
  static Outcome done() {
    return Done.INSTANCE;
  }

  /**
   * The attempt failed: the message is tried again by its retry policy, and dead when that is used
   * up, or when the error is one that the consumer declared as not retryable.
   *
   * @param error what went wrong; its kind and message and those of its causes are stored, cut to 8
   *     KiB
   */
  static Outcome failed(Throwable error) {
    return new Failed(error);
  }

  /**
   * Run the message again later. It counts as a delay, not as a failure; when the policy's limit of
   * delays is passed, the message is dead.
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
   * See {@link Outcome#failed(Throwable)}.
   *
   * @param error what went wrong
   */
  record Failed(Throwable error) implements Outcome {}

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
