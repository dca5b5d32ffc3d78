package io.sqlstreams;

import io.sqlstreams.error.InvalidInputException;
import org.jspecify.annotations.Nullable;

/**
 * Ends a handler with an outcome from deep inside, where nothing can be returned. It counts as well
 * when it comes out as the cause of another exception, however deep.
 */
public class OutcomeException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient Outcome outcome;

  /**
   * @param outcome a delay, a dead letter or a failure
   * @throws InvalidInputException when it is {@link Outcome#done()}: a handler that is done returns
   */
  public OutcomeException(Outcome outcome) {
    this(outcome, null);
  }

  /**
   * @param outcome a delay, a dead letter or a failure
   * @param cause what led to it; null for nothing
   * @throws InvalidInputException when it is {@link Outcome#done()}: a handler that is done returns
   */
  public OutcomeException(Outcome outcome, @Nullable Throwable cause) {
    super(String.valueOf(outcome), cause);
    if (outcome instanceof Outcome.Done) {
      throw new InvalidInputException(
          "outcome", "done can't be thrown: return it, so that what was done counts");
    }
    this.outcome = outcome;
  }

  /** The outcome. */
  public Outcome outcome() {
    return outcome;
  }
}
