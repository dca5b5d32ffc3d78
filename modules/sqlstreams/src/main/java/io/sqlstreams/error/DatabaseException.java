package io.sqlstreams.error;

import org.jspecify.annotations.Nullable;

/**
 * The database couldn't be reached, refused a statement, or gave way to another transaction: see
 * the code.
 */
public class DatabaseException extends SqlStreamsException {
  private static final long serialVersionUID = 1L;

  private final @Nullable String sqlState;

  /**
   * @param code which of the database kinds it is
   * @param message one line: what is wrong, and what to do
   * @param sqlState PostgreSQL's five-character code; null when the server said nothing
   * @param cause what the driver said
   */
  public DatabaseException(
      ErrorCode code, String message, @Nullable String sqlState, @Nullable Throwable cause) {
    super(code, message, cause);
    this.sqlState = sqlState;
  }

  /**
   * PostgreSQL's five-character error code (appendix A of its manual); null when the server said
   * nothing.
   */
  public @Nullable String sqlState() {
    return sqlState;
  }
}
