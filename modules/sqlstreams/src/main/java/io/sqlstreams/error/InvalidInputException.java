package io.sqlstreams.error;

import org.jspecify.annotations.Nullable;

/**
 * A value from the caller breaks a stated rule. It was found before anything was sent to the
 * database; only whether a text is JSON is the database's to say, and then nothing was written.
 */
public class InvalidInputException extends SqlStreamsException {
  private static final long serialVersionUID = 1L;

  private final String field;

  /**
   * @param field the name of the value at fault, such as {@code messageKey}
   * @param problem what is wrong with it, and what would be right
   */
  public InvalidInputException(String field, String problem) {
    this(field, problem, null);
  }

  /**
   * @param field the name of the value at fault, such as {@code payload}
   * @param problem what is wrong with it, and what would be right
   * @param cause what the codec or the database said of it
   */
  public InvalidInputException(String field, String problem, @Nullable Throwable cause) {
    super(ErrorCode.INVALID_INPUT, field + ": " + problem, cause);
    this.field = field;
  }

  /** The name of the value at fault, such as {@code messageKey}. */
  public String field() {
    return field;
  }
}
