package io.sqlstreams.cli;

/**
 * What the command line itself has to refuse: one line that says what to do. The exit code is 1.
 */
public final class CliException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * @param message one line: what is wrong, and what to do
   */
  public CliException(String message) {
    super(message);
  }

  /**
   * @param message one line: what is wrong, and what to do
   * @param cause what it came from
   */
  public CliException(String message, Throwable cause) {
    super(message, cause);
  }
}
