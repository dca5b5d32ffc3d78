package io.sqlstreams.error;

import org.jspecify.annotations.Nullable;

/**
 * The connection broke while a commit was under way, and it can't be found out what became of it:
 * the messages may or may not be in the stream. The caller decides: look, or send again. With
 * idempotency keys the same messages can be sent again without harm; without, they may then be
 * there twice.
 */
public class OutcomeUnknownException extends SqlStreamsException {
  private static final long serialVersionUID = 1L;

  /**
   * @param what what was under way
   * @param cause what the driver said
   */
  public OutcomeUnknownException(String what, @Nullable Throwable cause) {
    super(
        ErrorCode.OUTCOME_UNKNOWN,
        what
            + ": the connection was lost while the commit was under way, so it may or may not have happened:"
            + " check the stream, or send again: without idempotency keys the messages may then be there twice",
        cause);
  }
}
