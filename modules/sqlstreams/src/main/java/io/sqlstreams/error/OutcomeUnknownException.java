package io.sqlstreams.error;

import org.jspecify.annotations.Nullable;

/**
 * The connection broke while a commit was under way, so the messages may or may not be in the
 * stream. Nothing was sent again. The caller decides: look, or send again and accept that the
 * messages may then be there twice.
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
            + ": the connection was lost while the commit was under way, so it may or may not have happened;"
            + " nothing was sent again: check the stream, or send again and accept a possible duplicate",
        cause);
  }
}
