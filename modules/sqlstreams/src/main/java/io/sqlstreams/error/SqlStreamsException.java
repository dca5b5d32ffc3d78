package io.sqlstreams.error;

import org.jspecify.annotations.Nullable;

/**
 * The base of everything that this library throws by itself. The message is one line and ends with
 * what to do; the same facts are available as fields of the subclasses. No payload ever appears in
 * a message.
 */
public class SqlStreamsException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final ErrorCode code;

  /**
   * @param code the stable code of this kind of fault
   * @param message one line: what is wrong, and what to do
   * @param cause what the driver or the codec said; null when this library noticed by itself
   */
  public SqlStreamsException(ErrorCode code, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.code = code;
  }

  /** The stable code of this kind of fault; safe to switch on and to alert by. */
  public final ErrorCode code() {
    return code;
  }

  /** Whether the same call can succeed later without any change by the caller. */
  public final boolean retryable() {
    return code.retryable();
  }
}
